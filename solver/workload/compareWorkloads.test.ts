import fc from "fast-check";
import { expect, it } from "vitest";
import { compareWorkloads } from "./compareWorkloads";
import { generatedWorkload } from "./generated";
import type { Workload } from "./workload";

const workload = generatedWorkload({ prompts: 300, seed: 1 });
const other = generatedWorkload({ prompts: 300, seed: 2 });

const inOrder = ({ outcomes, ...rest }: Workload, order: readonly number[]): Workload => ({
  ...rest,
  outcomes: {
    promptIds: order.map((row) => outcomes.promptIds[row] ?? ""),
    categories: order.map((row) => outcomes.categories[row] ?? ""),
    inputTokens: Int32Array.from(order, (row) => outcomes.inputTokens[row] ?? 0),
    models: outcomes.models.map((column) => ({
      ...column,
      outputTokens: Int32Array.from(order, (row) => column.outputTokens[row] ?? 0),
      label: Float64Array.from(order, (row) => column.label[row] ?? 0),
      judged: Float64Array.from(order, (row) => column.judged[row] ?? 0),
    })),
  },
});

it("finds nothing apart between a workload and itself in another order", () => {
  const order = Array.from(workload.outcomes.promptIds.keys());
  fc.assert(
    fc.property(fc.shuffledSubarray(order, { minLength: order.length }), (shuffled) => {
      const compared = compareWorkloads(workload, inOrder(workload, shuffled));
      expect(compared.same).toEqual({ prompts: true, outcomes: true, arrivals: true });
      expect(
        compared.models.flatMap(({ quality, judged, outputTokens }) => [quality, judged, outputTokens]).some(({ apart }) => apart),
      ).toBe(false);
      expect(compared.models.every(({ quality }) => quality.difference?.value === 0)).toBe(true);
    }),
    { numRuns: 10 },
  );
});

it("tells other arrivals of the same prompts from all else", () => {
  const slower = { ...workload, arrivalSeconds: workload.arrivalSeconds.map((at) => at * 3) };
  const compared = compareWorkloads(workload, slower);
  expect(compared.same).toEqual({ prompts: true, outcomes: true, arrivals: false });
  expect(compared.requestsPerSecond.apart).toBe(true);
  expect(compared.requestsPerSecond.difference?.value).toBeLessThan(0);
  expect(compared.inputTokens.apart).toBe(false);
});

it("sees a model that got better on the same prompts, though by less than other prompts would show", () => {
  const [first, ...rest] = workload.outcomes.models;
  if (first === undefined) throw new Error("there are models");
  let mended = 0;
  const label = first.label.map((value) => (value < 50 && mended++ < 8 ? 100 : value));
  const better = { ...workload, outcomes: { ...workload.outcomes, models: [{ ...first, label }, ...rest] } };
  const { quality } = compareWorkloads(workload, better).models[0] ?? { quality: null };
  expect(quality?.apart).toBe(true);
  // The same means with other prompts.
  const renamed = { ...better, outcomes: { ...better.outcomes, promptIds: better.outcomes.promptIds.map((id) => `${id}'`) } };
  expect(compareWorkloads(workload, renamed).models[0]?.quality.apart).toBe(false);
});

it("compares what only one of them has with nothing", () => {
  const [first, ...rest] = workload.outcomes.models;
  const fewer = { ...workload, outcomes: { ...workload.outcomes, models: rest } };
  const compared = compareWorkloads(fewer, workload).models.find(({ model }) => model === first?.model);
  expect(compared?.quality).toMatchObject({ a: null, difference: null, apart: false });
  expect(compared?.quality.b).not.toBeNull();
});

it("shares of the categories sum to one on both sides", () => {
  const { categories } = compareWorkloads(workload, other);
  for (const side of ["a", "b"] as const) {
    expect(categories.reduce((sum, { share }) => sum + (share[side]?.value ?? 0), 0)).toBeCloseTo(1, 9);
  }
});

it("says the reverse when they change places", () => {
  const [there, back] = [compareWorkloads(workload, other), compareWorkloads(other, workload)];
  expect(back.inputTokens.difference?.value).toBeCloseTo(-(there.inputTokens.difference?.value ?? Number.NaN), 9);
  expect(back.inputTokens.apart).toBe(there.inputTokens.apart);
  expect(there.prompts.shared).toBe(back.prompts.shared);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { mean } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";
import { qualityInterval } from "./contentIntervals";
import { generatedWorkload } from "./generated";
import { observedWorkload } from "./observedWorkload";
import type { ObservedRequest } from "./similarRows";
import { splitPrompts } from "./split";
import type { Workload } from "./workload";

const workload = generatedWorkload({ prompts: 400, seed: 5 });
const { outcomes } = workload;
const [small, large] = outcomes.models;
const { planning } = splitPrompts(outcomes.promptIds.length, workload.seed);

/** A planning prompt as seen by a gateway that sent it to the first model only. */
const seenOf = (prompt: number, arrivalSeconds: number): ObservedRequest => ({
  arrivalSeconds,
  inputTokens: outcomes.inputTokens[prompt] ?? 0,
  visits: [{ model: small!.model, outputTokens: small!.outputTokens[prompt] ?? 0, judged: small!.judged[prompt] ?? 0 }],
});

test("lengths and scores are those seen, whatever they are", () => {
  const tokens = fc.integer({ min: 1, max: 100_000 });
  const request = fc.record({ input: tokens, output: tokens, judged: fc.integer({ min: 0, max: 100 }) });
  fc.assert(
    fc.property(fc.array(request, { minLength: 50, maxLength: 120 }), (requests) => {
      const seen = requests.map(({ input, output, judged }, at) => ({
        ...{ arrivalSeconds: at, inputTokens: input },
        visits: [{ model: small!.model, outputTokens: output, judged }],
      }));
      const made = observedWorkload(workload, seen, "now")!;
      const taken = made.outcomes.promptIds.map((id) => requests[Number(id.slice("seen-".length))]!);
      expect(taken.length).toBeGreaterThanOrEqual(50);
      expect(Array.from(made.outcomes.inputTokens)).toEqual(taken.map(({ input }) => input));
      expect(Array.from(made.outcomes.models[0]!.outputTokens)).toEqual(taken.map(({ output }) => output));
      expect(Array.from(made.outcomes.models[0]!.judged)).toEqual(taken.map(({ judged }) => judged));
    }),
    { numRuns: 20 },
  );
});

test("what no gateway sees is that of a planning prompt that looks the same", () => {
  const prompts = Array.from(planning);
  const made = observedWorkload(
    workload,
    prompts.map((prompt, at) => seenOf(prompt, at)),
    "now",
  )!;
  const likeIt = (prompt: number): readonly string[] =>
    Array.from(planning)
      .filter((other) => JSON.stringify(seenOf(other, 0)) === JSON.stringify(seenOf(prompt, 0)))
      .map((other) => [small!.label[other], large!.label[other], large!.outputTokens[other], large!.judged[other]].join());
  for (const [at, id] of made.outcomes.promptIds.entries()) {
    const prompt = prompts[Number(id.slice("seen-".length))]!;
    const [first, second] = made.outcomes.models;
    const row = [first!.label[at], second!.label[at], second!.outputTokens[at], second!.judged[at]].join();
    expect(likeIt(prompt)).toContain(row);
  }
});

test("requests and answers that are all longer are no harder, and answers not seen are longer likewise", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), (times) => {
      const seen = Array.from(planning).map((prompt, at) => seenOf(prompt, at));
      const long = seen.map(({ arrivalSeconds, inputTokens, visits }) => ({
        arrivalSeconds,
        inputTokens: times * (inputTokens ?? 0),
        visits: visits.map((visit) => ({ ...visit, outputTokens: times * (visit.outputTokens ?? 0) })),
      }));
      const [asSeen, longer] = [observedWorkload(workload, seen, "now")!, observedWorkload(workload, long, "now")!];
      for (const [rank, { label, judged, outputTokens }] of longer.outcomes.models.entries()) {
        const own = asSeen.outcomes.models[rank]!;
        expect(label).toEqual(own.label);
        expect(judged).toEqual(own.judged);
        for (const [at, tokens] of outputTokens.entries()) expect(tokens / own.outputTokens[at]!).toBeCloseTo(times, 0);
      }
    }),
    { numRuns: 5 },
  );
});

test("requests that the judge scores lower are harder", () => {
  const seen = Array.from(planning).map((prompt, at) => seenOf(prompt, at));
  const lower = seen.map((request) => ({
    ...request,
    visits: request.visits.map((visit) => ({ ...visit, judged: Math.max(0, (visit.judged ?? 0) - 30) })),
  }));
  const quality = (made: Workload | null): number => mean(made!.outcomes.models[1]!.label);
  expect(quality(observedWorkload(workload, lower, "now"))).toBeLessThan(quality(observedWorkload(workload, seen, "now")) - 5);
});

test("held-out prompts lend nothing: the planner must not see them", () => {
  const { heldOut } = splitPrompts(outcomes.promptIds.length, workload.seed);
  const marked = {
    ...workload,
    outcomes: {
      ...outcomes,
      models: outcomes.models.map((column) => ({ ...column, label: column.label.map((label, at) => (heldOut.includes(at) ? -1 : label)) })),
    },
  };
  const seen = Array.from(heldOut).map((prompt, at) => seenOf(prompt, at));
  expect(Math.min(...observedWorkload(marked, seen, "now")!.outcomes.models[0]!.label)).toBeGreaterThanOrEqual(0);
});

test("arrivals are those seen, from the first, in order", () => {
  const seen = Array.from(planning)
    .slice(0, 60)
    .map((prompt, at) => seenOf(prompt, 1000 + ((at * 7) % 60)));
  const { arrivalSeconds } = observedWorkload(workload, seen, "now")!;
  expect(Array.from(arrivalSeconds)).toEqual(Array.from({ length: 60 }, (_, at) => at));
});

test("too few requests, requests without lengths, and requests all at once make no workload", () => {
  const seen = Array.from(planning)
    .slice(0, 60)
    .map((prompt, at) => seenOf(prompt, at));
  expect(observedWorkload(workload, seen.slice(0, 49), "now")).toBeNull();
  expect(
    observedWorkload(
      workload,
      seen.map((request) => ({ ...request, inputTokens: null })),
      "now",
    ),
  ).toBeNull();
  expect(
    observedWorkload(
      workload,
      seen.map((request) => ({ ...request, arrivalSeconds: 3 })),
      "now",
    ),
  ).toBeNull();
});

test("quality of a model that few requests reached is no surer than the prompts that its labels are of", () => {
  const population = generatedWorkload({ prompts: 20_000, seed: 9 });
  const truth = mean(population.outcomes.models[1]!.label);
  const [first] = population.outcomes.models;
  let [covered, bias] = [0, 0];
  const seeds = 200;
  for (let seed = 0; seed < seeds; seed += 1) {
    const random = seededRandom(seed);
    const rows = Int32Array.from({ length: 200 }, () => random.int(20_000));
    const pick = <Values extends Int32Array | Float64Array>(values: Values) =>
      values.map((_, at) => values[rows[at] ?? 0] ?? 0).slice(0, rows.length) as Values;
    const earlier: Workload = {
      ...population,
      outcomes: {
        promptIds: Array.from(rows, String),
        categories: Array.from(rows, () => ""),
        inputTokens: pick(population.outcomes.inputTokens),
        models: population.outcomes.models.map(({ model, tableName, outputTokens, label, judged }) => ({
          ...{ model, tableName, outputTokens: pick(outputTokens), label: pick(label), judged: pick(judged) },
        })),
      },
    };
    // The view of a cascade's first stage of 600 requests; the model behind it is unknown.
    const seen = Array.from({ length: 600 }, (_, at): ObservedRequest => {
      const row = random.int(20_000);
      const visit = { model: first!.model, outputTokens: first!.outputTokens[row] ?? 0, judged: first!.judged[row] ?? 0 };
      return { arrivalSeconds: at, inputTokens: population.outcomes.inputTokens[row] ?? 0, visits: [visit] };
    });
    const { value, low, high } = qualityInterval(observedWorkload(earlier, seen, "now")!.outcomes.models[1]!.label)!;
    if (low <= truth && truth <= high) covered += 1;
    bias += (value - truth) / seeds;
  }
  expect(covered / seeds).toBeGreaterThanOrEqual(0.85);
  expect(Math.abs(bias)).toBeLessThan(1);
});

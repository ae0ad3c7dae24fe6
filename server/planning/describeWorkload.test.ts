import fc from "fast-check";
import { expect, test } from "vitest";
import type { Histogram } from "@/server/contracts/studio";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { describeWorkload, workloadDetail } from "./describeWorkload";
import { decodeWorkload, encodeWorkload } from "./workloadCodec";

const workload: Workload = {
  name: "w",
  outcomes: {
    promptIds: ["a", "b", "c", "d"],
    categories: ["x", "y", "x", "x"],
    inputTokens: Int32Array.of(10, 20, 30, 40),
    models: [
      {
        model: "m",
        tableName: "M",
        outputTokens: Int32Array.of(1, 100, 100, 1000),
        label: Float64Array.of(0, 100, 100, 0),
        judged: Float64Array.of(9, 10, 99, 50),
      },
    ],
  },
  arrivalSeconds: Float64Array.of(0, 15, 60, 60),
  judge: { kind: "modelled", auc: 0.9, seed: 1 },
  origin: { outcomes: "a table", arrivals: "a trace", generated: false },
  seed: 1,
};

test("a summary counts, averages and says where everything came from", () => {
  expect(describeWorkload(workload)).toEqual({
    name: "w",
    generated: false,
    outcomesFrom: "a table",
    arrivalsFrom: "a trace",
    prompts: 4,
    planningPrompts: 3,
    heldOutPrompts: 1,
    arrivals: 4,
    recordedRequestsPerSecond: 0.05,
    judge: { kind: "modelled", auc: 0.9 },
    models: [{ model: "m", tableName: "M", meanLabel: 50, meanOutputTokens: 300.25 }],
    meanInputTokens: 25,
  });
  expect(describeWorkload({ ...workload, judge: { kind: "measured" } }).judge).toEqual({ kind: "measured", auc: null });
});

test("scores fall into ten bars, arrivals into sixty, ends included", () => {
  const { models, arrivals, categories } = workloadDetail(workload);
  expect(models[0]?.label.counts).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
  expect(models[0]?.judged.counts).toEqual([1, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
  expect(arrivals.counts.flatMap((count, bar) => (count > 0 ? [[bar, count]] : []))).toEqual([
    [0, 1],
    [15, 1],
    [59, 2],
  ]);
  expect(categories.map(({ name, prompts }) => [name, prompts])).toEqual([
    ["x", 3],
    ["y", 1],
  ]);
});

test("judged scores of right and wrong answers are told apart", () => {
  const { judgedByLabel } = workloadDetail(workload);
  expect(judgedByLabel.right.counts).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(judgedByLabel.wrong.counts).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
});

test("the judge of a table is as reliable as it was modelled, also where not all answers are compared", () => {
  for (const prompts of [200, 3000]) {
    const { judgeAuc } = workloadDetail(generatedWorkload({ prompts, seed: 4 }));
    expect(judgeAuc?.low).toBeLessThan(0.8);
    expect(judgeAuc?.high).toBeGreaterThan(0.8);
  }
  expect(workloadDetail({ ...workload, outcomes: { ...workload.outcomes, models: [] } }).judgeAuc).toBeNull();
});

test("rates by hour are told where the arrivals have a clock, and outlive storage", () => {
  const byHour = Array.from({ length: 24 }, (_, hour) => (hour < 8 ? null : hour));
  const clocked = { ...workload, origin: { ...workload.origin, byHour } };
  expect(workloadDetail(decodeWorkload(encodeWorkload(clocked))).byHour).toEqual(byHour);
  expect(workloadDetail(workload).byHour).toBeNull();
});

test("every histogram holds every value once, between ascending edges", () => {
  const holds = ({ edges, counts }: Histogram, values: ArrayLike<number>) => {
    expect(counts.length).toBe(edges.length - 1);
    expect([...edges]).toEqual([...new Set(edges)].sort((a, b) => a - b));
    counts.forEach((count, bar) => {
      const inside = Array.from(values).filter((value) => value >= edges[bar]! && (value < edges[bar + 1]! || bar === counts.length - 1));
      expect(count).toBe(inside.length);
    });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
  };
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 2, maxLength: 40 }), (lengths) => {
      const inputTokens = Int32Array.from(lengths);
      holds(workloadDetail({ ...workload, outcomes: { ...workload.outcomes, inputTokens } }).inputTokens, inputTokens);
    }),
  );
  const generated = generatedWorkload({ prompts: 500, seed: 1 });
  const detail = workloadDetail(generated);
  detail.models.forEach((model, at) => {
    holds(model.outputTokens, generated.outcomes.models[at]!.outputTokens);
    holds(model.judged, generated.outcomes.models[at]!.judged);
  });
  holds(detail.arrivals, generated.arrivalSeconds);
});

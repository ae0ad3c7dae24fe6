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
  const judgedByLabel = workloadDetail(workload).models[0]?.judgedByLabel;
  expect(judgedByLabel?.right.counts).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(judgedByLabel?.wrong.counts).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
});

test("the judge of a table is as reliable as it was modelled, also where not all answers are compared", () => {
  for (const prompts of [200, 3000]) {
    for (const { judgeAuc } of workloadDetail(generatedWorkload({ prompts, seed: 4 })).models) {
      expect(judgeAuc?.low).toBeLessThan(0.84);
      expect(judgeAuc?.high).toBeGreaterThan(0.76);
    }
  }
});

test("the reliability of judged scores is told per model and per pair of stages, never over answers of several models", () => {
  const prompts = 400;
  const rows = Array.from({ length: prompts }, (_, row) => row);
  const column = (model: string, right: (row: number) => boolean, score: (row: number) => number) => ({
    ...{ model, tableName: model, outputTokens: Int32Array.from(rows, () => 1) },
    label: Float64Array.from(rows, (row) => (right(row) ? 100 : 0)),
    judged: Float64Array.from(rows, score),
  });
  const { outcomes } = workload;
  const detail = workloadDetail({
    ...workload,
    outcomes: {
      promptIds: rows.map(String),
      categories: rows.map(() => "x"),
      inputTokens: Int32Array.from(rows, () => 1),
      models: [
        // Scores that say which model answered and nothing of the answer: pooled over both models their AUC would be far from a coin's.
        column(
          "small",
          (row) => row % 10 === 0,
          (row) => 20 + (Math.floor(row / 10) % 5),
        ),
        column(
          "large",
          (row) => row % 10 !== 5,
          (row) => 80 + (Math.floor(row / 10) % 5),
        ),
      ],
    },
  });
  for (const { judgeAuc } of detail.models) expect(judgeAuc?.value).toBeCloseTo(0.5, 6);
  expect(detail.judgedPairs).toEqual([
    { smaller: "small", larger: "large", auc: expect.objectContaining({ value: expect.closeTo(0.5, 6) }) },
  ]);
  expect(detail).not.toHaveProperty("judgeAuc");
  expect(workloadDetail({ ...workload, outcomes }).models[0]?.judgeAuc?.value).toBeCloseTo(0.75, 6);
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

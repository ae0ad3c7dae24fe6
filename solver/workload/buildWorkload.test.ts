import { expect, test } from "vitest";
import type { LabelledTable } from "./applyJudge";
import { buildWorkload } from "./buildWorkload";

const table = (judged: Float64Array | null): LabelledTable => ({
  promptIds: ["a", "b", "c"],
  categories: ["t", "t", "t"],
  inputTokens: Int32Array.of(5, 6, 7),
  models: ["small", "large"].map((model) => ({
    model,
    tableName: model,
    outputTokens: Int32Array.of(1, 2, 3),
    label: Float64Array.of(0, 100, 100),
    judged,
  })),
});

const parts = (judged: Float64Array | null, judgeAuc: number | null) => ({
  name: "w",
  outcomes: { table: table(judged), origin: "a table" },
  arrivals: { arrivalSeconds: Float64Array.of(0, 1), origin: "a trace" },
  judgeAuc,
  seed: 1,
});

test("measured scores are used as they are, unless a modelled judge is asked for", () => {
  const scores = Float64Array.of(10, 55.5, 90);
  const measured = buildWorkload(parts(scores, null));
  expect(measured.judge).toEqual({ kind: "measured" });
  expect(measured.outcomes.models.map(({ judged }) => judged)).toEqual([scores, scores]);
  expect(buildWorkload(parts(scores, 1)).outcomes.models[0]?.judged).toEqual(Float64Array.of(0, 100, 100));
});

test("a table without measured scores gets a judge modelled at AUC 0.80, with its own error on every model's answer", () => {
  const { judge, outcomes } = buildWorkload(parts(null, null));
  expect(judge).toEqual({ kind: "modelled", auc: 0.8, seed: 1 });
  expect(outcomes.models[0]?.judged).not.toEqual(outcomes.models[1]?.judged);
});

test("a workload without a trace says that its arrivals are generated", () => {
  const { origin, arrivalSeconds } = buildWorkload({ ...parts(null, null), arrivals: null });
  expect(origin).toEqual({ outcomes: "a table", arrivals: expect.stringContaining("generated: Gamma"), generated: false });
  expect((arrivalSeconds.length - 1) / (arrivalSeconds.at(-1) ?? 0)).toBeCloseTo(5.5, 0);
});

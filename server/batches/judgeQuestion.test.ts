import { expect, it } from "vitest";
import { judgeQuestion, type OverCall } from "./judgeQuestion";
import { ensembleOf, orderOf } from "./testing/testBatchStudio";

const experts = ["a", "b", "c"];
const order = orderOf({ ensemble: ensembleOf(experts, "big"), workers: [experts], questions: 1 });
const call = (model: string, vote: string | null, change: Partial<OverCall> = {}): OverCall => ({
  ...{ batchId: "x", stage: "experts", position: 0, model, state: "done", attempts: 1, lost: 0, at: "", engine: null },
  ...{ inputTokens: 1, outputTokens: 1, seconds: 1, failure: null, vote },
  ...change,
});
const failed = { state: "failed", failure: "timed out" } as const;
const split = [call("a", "A"), call("b", "B"), call("c", "B")];

it("decides nothing while an expert is out", () => {
  expect(judgeQuestion(split.slice(0, 2), experts, order)).toBeNull();
});

it("returns what experts agree on, else waits for the aggregator and returns its vote", () => {
  const agreed = experts.map((model) => call(model, "C"));
  expect(judgeQuestion(agreed, experts, order)).toMatchObject({
    verdict: "skipped",
    vote: "C",
    by: { stage: "experts", model: "a" },
  });
  expect(judgeQuestion(split, experts, order)).toMatchObject({ verdict: "open", vote: null });
  const answered = [...split, call("big", "A", { stage: "aggregator" })];
  expect(judgeQuestion(answered, experts, order)).toMatchObject({ verdict: "aggregated", vote: "A", by: { model: "big" } });
});

it("falls back to the vote that leads where the aggregator fails, and has no answer where nobody voted", () => {
  const broken = call("big", null, { stage: "aggregator", ...failed });
  expect(judgeQuestion([...split, broken], experts, order)).toMatchObject({ verdict: "aggregated", vote: "B", by: { model: "b" } });
  const silent = experts.map((model) => call(model, null, failed));
  expect(judgeQuestion([...silent, broken], experts, order)).toMatchObject({ verdict: "unanswered", vote: null, by: null });
});

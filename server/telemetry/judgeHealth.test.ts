import { expect, test } from "vitest";
import { judgeHealth } from "./gatewayWatch";

const status = { model: "j", circuitOpen: false, unavailable: null, scored: 0, failed: 0, lastScoreMs: null, lastFailure: null };
const failure = (atMs: number) => ({ atMs, outcome: "failed" as const, reason: "the judge answered 500" });

test("a judge is idle before its first call, answers or fails by its latest call, and is named by what keeps calls from it", () => {
  expect(judgeHealth(status)).toMatchObject({ state: "idle", reason: "", lastScoreAt: null, lastFailureAt: null });
  const scored = { ...status, scored: 3, lastScoreMs: 2_000 };
  expect(judgeHealth(scored)).toMatchObject({ state: "answering", lastScoreAt: "1970-01-01T00:00:02.000Z" });
  const failed = { ...scored, failed: 1, lastFailure: failure(3_000) };
  expect(judgeHealth(failed)).toMatchObject({ state: "failing", reason: "the judge answered 500" });
  expect(judgeHealth({ ...failed, lastScoreMs: 4_000 })).toMatchObject({ state: "answering", reason: "" });
  expect(judgeHealth({ ...failed, circuitOpen: true })).toMatchObject({ state: "circuit-open", reason: "the judge answered 500" });
  expect(judgeHealth({ ...status, unavailable: "its key K is not set" })).toMatchObject({
    state: "unavailable",
    reason: "its key K is not set",
  });
});

import { describe, expect, it } from "vitest";
import { isScoredByJudge, isUnjudged, judgeScoreOf, type ScoredStage } from "./stageScore";

const stage = (more: Partial<ScoredStage>): ScoredStage => ({ judgeSeconds: null, judgedScore: null, verdict: "accepted", ...more });

describe("isUnjudged", () => {
  it.each([
    ["an answer that needed no score", {}, false],
    ["an answer of which the judge gave no score", { judgeSeconds: 0.2 }, true],
    ["an answer that its gate could not score", { gate: { kind: "confidence" } }, true],
    ["an answer with a score", { judgeSeconds: 0.2, judgedScore: 0 }, false],
    ["an answer without a score that was not accepted", { judgeSeconds: 0.2, verdict: "escalated" }, false],
  ] as const)("tells of %s", (_, more, unjudged) => expect(isUnjudged(stage(more))).toBe(unjudged));
});

it("pays the judge for scores alone, and compares with a judge what it scored alone", () => {
  expect([isScoredByJudge(stage({ judgeSeconds: 0.1, judgedScore: 0 })), isScoredByJudge(stage({ judgeSeconds: 0.1 }))]).toEqual([
    true,
    false,
  ]);
  expect(judgeScoreOf(stage({ judgedScore: 70 }))).toBe(70);
  expect(judgeScoreOf(stage({ judgedScore: 70, gate: { kind: "judge" } }))).toBe(70);
  expect(judgeScoreOf(stage({ judgedScore: 70, gate: { kind: "sequence" } }))).toBeNull();
});

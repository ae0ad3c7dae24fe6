import { describe, expect, it } from "vitest";
import { testStage as stage } from "../testing/testDecision";
import { prepareDecision } from "./prepareDecision";

describe("prepareDecision", () => {
  it("writes the stages with their scores in the order they were met", () => {
    const small = stage("small", { verdict: "escalated", judgedScore: 41, threshold: 60, reason: "score-below-threshold" });
    expect(prepareDecision({ status: 200, reason: "", stages: [small, stage("large")] })).toEqual({
      path: "small 41.0 → large",
      note: null,
    });
  });

  it("says why a request without a stage had none, rather than leaving its path empty", () => {
    const full = { status: 429, reason: "The queue of small is full.", stages: [] };
    expect(prepareDecision(full)).toEqual({ path: "The queue of small is full.", note: "shed" });
    expect(prepareDecision({ status: 499, reason: "", stages: [] }).note).toBe("client disconnected");
  });

  it("marks an answer accepted without a judge, but not a last stage that is never judged", () => {
    const small = stage("small", { threshold: 60, judgeSeconds: 0.2, reason: "judge-unavailable", detail: "no judge is configured" });
    expect(prepareDecision({ status: 200, reason: "", stages: [small] })).toEqual({
      path: "small not judged",
      note: "accepted without a judge",
    });
    expect(prepareDecision({ status: 200, reason: "", stages: [stage("large")] }).note).toBeNull();
  });

  it("tells a replica that failed from one that answered", () => {
    const failed = stage("small", { verdict: "failed", reason: "the engine answered 500" });
    expect(prepareDecision({ status: 200, reason: "", stages: [failed, stage("small")] }).path).toBe("small failed → small");
  });
});

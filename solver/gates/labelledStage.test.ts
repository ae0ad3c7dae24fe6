import { describe, expect, it } from "vitest";
import { labelledStage } from "./labelledStage";

const stage = (model: string, verdict: "accepted" | "escalated" | "failed", gate?: { kind: string; raw?: (number | null)[] }) => ({
  ...{ model, verdict },
  ...(gate && { gate }),
});
const scored = (...raw: (number | null)[]) => ({ kind: "confidence", raw });

describe("labelledStage", () => {
  it("is the answer that the client got, with the raw score of its gate", () => {
    const stages = [stage("a", "escalated", scored(20)), stage("b", "accepted", scored(81.25))];
    expect(labelledStage(stages)).toEqual({ kind: "usable", model: "b", gate: "confidence", raw: [81.25] });
  });

  it("is that of a named stage, after a failed attempt of it too", () => {
    const stages = [stage("a", "failed"), stage("a", "escalated", scored(20, null)), stage("b", "accepted")];
    expect(labelledStage(stages, "a")).toEqual({ kind: "usable", model: "a", gate: "confidence", raw: [20, null] });
  });

  it.each([
    ["no-accepted-answer", [stage("a", "failed")], undefined],
    ["no-answer-of-model", [stage("a", "accepted", scored(1))], "c"],
    ["no-answer-of-model", [stage("a", "failed", scored(1))], "a"],
    ["no-gate", [stage("b", "accepted")], undefined],
    ["raw-score-not-recorded", [stage("a", "accepted", { kind: "judge" })], undefined],
    ["no-raw-score", [stage("a", "accepted", scored(null, null))], undefined],
  ])("names %s as the reason for which a label cannot count", (kind, stages, model) => {
    expect(labelledStage(stages, model)).toEqual({ kind });
  });
});

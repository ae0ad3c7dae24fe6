import { expect, it } from "vitest";
import { testDecision, testStage } from "../testing/testDecision";
import { labelledAnswer, labelledText } from "./prepareLabel";

const gate = (...raw: (number | null)[]) => ({ kind: "confidence" as const, seconds: 0, raw });

it("offers a label of the accepted answer, with its raw scores", () => {
  const stages = [testStage("small", { verdict: "escalated", gate: gate(12) }), testStage("medium", { gate: gate(71.26, null, 40) })];
  expect(labelledAnswer(testDecision({ stages }))).toEqual({ model: "medium", raw: "71.3 and 40.0" });
});

it.each([
  ["the request has no accepted answer", [testStage("small", { verdict: "failed" })]],
  ["no gate scored the answer", [testStage("small", { verdict: "escalated", gate: gate(12) }), testStage("large")]],
  ["the gate gave the answer no raw score", [testStage("small", { gate: gate(null) })]],
  ["the record has no raw score, as its gateway is of an earlier version", [testStage("small", { gate: { kind: "judge", seconds: 0.2 } })]],
])("says that a record takes no label where %s", (reason, stages) => {
  expect(labelledAnswer(testDecision({ stages }))).toBe(`This record takes no label: ${reason}.`);
});

it("says who labelled it", () => {
  const label = { decisionId: "d1", model: "small", quality: 75, actor: "ada", at: "2026-01-01T00:00:00.000Z" };
  expect([labelledText(null), labelledText(label)]).toEqual([
    "Nobody has labelled it.",
    "Labelled 75 of 100 by ada. Another label replaces it.",
  ]);
});

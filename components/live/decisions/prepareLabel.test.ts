import { expect, it } from "vitest";
import { testDecision, testStage } from "../testing/testDecision";
import { labelledStage, labelledText } from "./prepareLabel";

const gate = (...raw: (number | null)[]) => ({ kind: "confidence" as const, seconds: 0, raw });

it("offers a label of the accepted answer, with its raw scores", () => {
  const stages = [testStage("small", { verdict: "escalated", gate: gate(12) }), testStage("medium", { gate: gate(71.26, null, 40) })];
  expect(labelledStage(testDecision({ stages }))).toEqual({ model: "medium", raw: "71.3 and 40.0" });
});

it.each([
  ["a request without an answer", [testStage("small", { verdict: "failed" })]],
  ["an answer that no gate scored", [testStage("small", { verdict: "escalated", gate: gate(12) }), testStage("large")]],
  ["a gate without a raw score", [testStage("small", { gate: gate(null) })]],
  ["a record of an older gateway", [testStage("small", { gate: { kind: "judge", seconds: 0.2 } })]],
])("offers none for %s", (_, stages) => {
  expect(labelledStage(testDecision({ stages }))).toBeNull();
});

it("says who labelled it", () => {
  const label = { decisionId: "d1", model: "small", quality: 75, actor: "ada", at: "2026-01-01T00:00:00.000Z" };
  expect([labelledText(null), labelledText(label)]).toEqual([
    "Nobody has labelled it.",
    "Labelled 75 of 100 by ada. Another label replaces it.",
  ]);
});

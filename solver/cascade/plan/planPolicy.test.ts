import { expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { CompleteInput } from "./planInput";
import { planPolicy } from "./planPolicy";

const gate: { readonly [Kind in "confidence" | "agreement" | "scorer" | "judge"]: GateDocument } = {
  confidence: { kind: "confidence", measure: "minimum" },
  agreement: { kind: "agreement", answer: "whole", samples: { count: 2, temperature: 1 } },
  scorer: { kind: "scorer", answer: "whole", bias: 0, weights: [{ feature: "minimum-probability", mean: 0, scale: 1, weight: 1 }] },
  judge: { kind: "judge" },
};
const sequence: GateDocument = {
  kind: "sequence",
  first: [{ gate: { kind: "confidence", measure: "minimum" }, acceptFrom: 80, escalateBelow: 20 }],
  last: { kind: "judge" },
};

/** The policy of a cascade of two with this gate at this threshold, without a deployment. */
function whenDown(document: GateDocument | undefined, threshold: number): "accept" | "largest" | undefined {
  const gates = document === undefined ? undefined : { stages: new Map([["small", { document }]]) };
  const explorer = {
    routing: () => ({ stages: [0, 1], thresholds: [threshold], startBelow: 0 }),
    input: { sample: { models: ["small", "large"] }, gates },
  };
  const judge = { model: "judge", secondsPerCall: 1, usdPerCall: 0 };
  return planPolicy({ explorer, judge } as unknown as CompleteInput, 0, null).judge.whenDown;
}

it.each(["confidence", "agreement", "scorer"] as const)("has an answer without a score of %s answered by the largest model", (kind) => {
  expect(whenDown(gate[kind], 50)).toBe("largest");
});

it("has an answer that a sequence cannot score answered by the largest model", () => {
  expect(whenDown(sequence, 50)).toBe("largest");
});

it("accepts what the judge alone does not score, and where nothing is scored", () => {
  expect(whenDown(undefined, 50)).toBeUndefined();
  expect(whenDown(gate.judge, 50)).toBeUndefined();
  expect(whenDown(gate.confidence, 0)).toBeUndefined();
});

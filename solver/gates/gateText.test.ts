import { expect, it } from "vitest";
import { gateText } from "./gateText";

it("says what each gate reads, and of a sequence which answers go on to the next", () => {
  const confidence = { kind: "confidence" as const, measure: "minimum" as const };
  const agreement = { kind: "agreement" as const, answer: "number" as const, samples: { count: 3, temperature: 0.7 }, peers: ["gemma-9b"] };
  const weights = [{ feature: "log-answer-tokens" as const, mean: 0, scale: 1, weight: 1 }];
  expect(gateText({ kind: "judge" })).toBe("the judge");
  expect(gateText(confidence)).toBe("smallest token probability");
  expect(gateText(agreement)).toBe("agreement with 3 samples at temperature 0.7 and gemma-9b");
  expect(gateText({ kind: "scorer", answer: "number", bias: 0, weights })).toBe("scorer of 1 features");
  expect(gateText({ kind: "sequence", first: [{ gate: confidence, acceptFrom: 90, escalateBelow: 20 }], last: { kind: "judge" } })).toBe(
    "smallest token probability below 20 and from 90; between, the judge",
  );
});

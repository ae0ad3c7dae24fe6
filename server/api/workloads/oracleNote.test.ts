import { expect, it } from "vitest";
import type { Artefact } from "@/server/contracts/studio";
import { oracleNote } from "./oracleNote";

it("says how much of what is accurate the predictor accepts, and that without one nothing is left but the largest models", () => {
  const configurations = { precision: 0.8, recall: 0.179, evaluatedShare: 0.4, meanLoss: 0, cheapestLoss: 0 };
  const predictor = { hash: "a1".repeat(32), heldOut: { prompts: 9, configurations } } as Artefact;
  expect(oracleNote(predictor)).toContain("predictor a1a1a1a1a1a1 accepts 18 % of the accurate ones");
  expect(oracleNote(predictor)).toContain("precision 80 %");
  expect(oracleNote(undefined)).toMatch(/without a predictor only the largest models throughout count/);
});

import { expect, it } from "vitest";
import { type PolicyDocument, roundChoices } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { singlesSays, withPrice } from "./prepareRoundChoice";

it("says how requests outside declared workflows are served on the engines of a plan", () => {
  const { policy } = examplePlanDraft();
  const queueing = { order: policy.order, place: policy.place };
  expect(singlesSays(policy)).toMatch(/^Requests outside declared workflows keep this plan's cascade over .*, in one queue/);
  expect(singlesSays({ kind: "fixed", model: "large", ...queueing })).toContain("go to large, as in this plan");
  expect(singlesSays({ kind: "balanced", models: [{ model: "large", maxBatchSize: 4 }], ...queueing })).toContain("the largest model");
  const rounds: PolicyDocument = { kind: "just-in-time", models: [], workflows: [], selection: roundChoices.beam, ...queueing };
  expect(singlesSays(rounds)).toContain("the largest model");
  expect(singlesSays({ ...rounds, singles: { kind: "fixed", model: "small" } })).toContain("go to small");
  expect(singlesSays(null)).toBe("");
});

it("asks for a price of tokens, and no longer", () => {
  const priced = withPrice(roundChoices.worth, true);
  expect(priced).toEqual({ ...roundChoices.worth, priced: true });
  if (priced.kind === "worth") expect(withPrice(priced, false)).toEqual(roundChoices.worth);
});

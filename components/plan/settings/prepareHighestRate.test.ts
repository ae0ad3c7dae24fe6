import { expect, it } from "vitest";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import type { Planning } from "../planning/usePlanning";
import { prepareHighestRate } from "./prepareHighestRate";

const draft = examplePlanDraft();
const refused = { requestsPerSecond: 31.68, kind: "latency-budget" as const, reason: "The fastest takes 5.1 s." };
const plan = {
  ...draft,
  inputs: { ...draft.inputs, rateChoice: "highest", workload: { ...draft.inputs.workload, requestsPerSecond: 31.25 } },
  predictions: { ...draft.predictions, p95Seconds: 4.9, p95Band: { low: 4.6, high: 5.2, confidence: 0.9, basis: "example" } },
  solver: { ...draft.solver, highestRate: { firstRequestsPerSecond: 20, refused } },
} as unknown as Plan;

/** The planning of the page after a search, as far as the answer reads it. */
function prepared(exact: Partial<Planning["exact"]>, own: Partial<Parameters<typeof prepareHighestRate>[0]> = {}) {
  return prepareHighestRate({
    exact: { plan, current: true, infeasible: null, status: { kind: "ready" }, ...exact } as Planning["exact"],
    knobs: { ...draft.inputs.objective, latencyBudgetSeconds: 5 },
    recommendation: null,
    exploration: { requestsPerSecond: 31.25 },
    ...own,
  });
}

it("gives the rate, the p95 with its band, and what refuses the next rate", () => {
  expect(prepared({})).toEqual({
    kind: "found",
    rate: "31.3/s",
    p95: expect.stringMatching(/^p95 4\.90.s, 4\.60.s to 5\.20.s at 90.%$/),
    next: { says: "31.7/s is stopped by the latency budget", reason: "The fastest takes 5.1 s." },
  });
});

it("says that no higher rate was tried where nothing refused one", () => {
  const unbound = { ...plan, solver: { ...plan.solver, highestRate: { firstRequestsPerSecond: 20, refused: null } } };
  expect(prepared({ plan: unbound })).toMatchObject({ next: { says: "The search ended before a rate was refused", reason: "" } });
});

it("names the stage's p95 first where the budget applies to that", () => {
  const objective = { ...plan.inputs.objective, latency: "largest-stage" as const };
  expect(prepared({ plan: { ...plan, inputs: { ...plan.inputs, objective } } })).toMatchObject({
    p95: expect.stringMatching(/^largest stage p95 .*; end to end p95 4\.90/),
  });
});

it("marks the answer for other settings, and says from the tables whether its rate is still in reach", () => {
  const estimate = { latencySeconds: 3.2 } as never;
  const within = { best: { kind: "one-model", estimate } } as unknown as Planning["recommendation"];
  expect(prepared({ current: false }, { recommendation: within })).toMatchObject({
    kind: "earlier",
    rate: "31.3/s",
    now: expect.stringMatching(/^With these settings 31\.3\/s has a p95 of 3\.20.s, by the tables\.$/),
  });
  const outside = { best: null } as unknown as Planning["recommendation"];
  expect(prepared({ current: false }, { recommendation: outside })).toMatchObject({ now: expect.stringContaining("out of reach") });
});

it("tells a missing budget, a first search, a failure and a request without any rate apart", () => {
  expect(prepared({}, { knobs: { ...draft.inputs.objective, latencyBudgetSeconds: null } })).toEqual({ kind: "no-budget" });
  expect(prepared({ plan: null, current: false, status: { kind: "loading", what: "" } })).toEqual({ kind: "none-yet" });
  const status = { kind: "error", message: "the planner ended", retry: null } as const;
  expect(prepared({ plan: null, current: false, status })).toEqual({ kind: "failed", message: "the planner ended" });
  const infeasible = { reason: "No plan reaches 99." } as Planning["exact"]["infeasible"];
  expect(prepared({ plan: null, infeasible })).toEqual({ kind: "infeasible", reason: "No plan reaches 99." });
});

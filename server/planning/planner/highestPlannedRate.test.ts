import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planHashes } from "@/server/contracts/gateway/planHash";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { highestPlannedRate, searchHighestRate } from "./highestPlannedRate";
import { sealPlan } from "./sealPlan";

const none = (rate: number) => ({ outcome: "infeasible", kind: "overloaded", reason: `none at ${rate}` }) as SolveAnswer;
const plan = (rate: number) => ({ outcome: "plan", plan: { inputs: { workload: { requestsPerSecond: rate } } } }) as SolveAnswer;
const rateOf = (answer: SolveAnswer): number => (answer.outcome === "infeasible" ? 0 : answer.plan.inputs.workload.requestsPerSecond);

describe("the search for the highest rate", () => {
  it("finds the highest rate that has a plan to 2 %, from below and from above it, and the refusal just above", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 1, max: 1000, noNaN: true }),
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        async (highest, start) => {
          const { answer, refused } = await searchHighestRate(async (rate) => (rate <= highest ? plan(rate) : none(rate)), highest * start);
          const found = rateOf(answer);
          expect(found).toBeLessThanOrEqual(highest);
          expect(found * 1.02).toBeGreaterThanOrEqual(highest);
          expect(refused?.requestsPerSecond).toBeGreaterThan(highest);
          expect(refused?.requestsPerSecond).toBeLessThanOrEqual(found * 1.02);
          expect(refused?.answer).toEqual(none(refused?.requestsPerSecond ?? 0));
        },
      ),
    );
  });

  it("plans a malformed request once, as no rate mends it", async () => {
    const rates: number[] = [];
    const malformed = { outcome: "infeasible", kind: "malformed", reason: "no such model" } as SolveAnswer;
    const { answer } = await searchHighestRate(async (rate) => {
      rates.push(rate);
      return malformed;
    }, 40);
    expect(answer).toBe(malformed);
    expect(rates).toEqual([40]);
  });

  it("gives the reason at the first rate where no rate has a plan", async () => {
    expect(await searchHighestRate(async (rate) => none(rate), 40)).toEqual({ answer: none(40), refused: null });
  });

  it("stops at the highest rate that can be planned for, where nothing refuses", async () => {
    const rates: number[] = [];
    const { answer, refused } = await searchHighestRate(async (rate) => {
      rates.push(rate);
      return plan(rate);
    }, 50_000);
    expect([rateOf(answer), refused]).toEqual([100_000, null]);
    expect(Math.max(...rates)).toBe(100_000);
  });
});

describe("the plan for the highest rate", () => {
  const draft = examplePlanDraft();
  const asked = { requestsPerSecond: 20, objective: { ...draft.inputs.objective, latencyBudgetSeconds: 5 } };

  /** Plans at every rate; the p95 is a tenth of a second for each request a second. */
  const solve: Parameters<typeof highestPlannedRate>[0] = async (requestsPerSecond, { onProgress }) => {
    onProgress?.({ phase: "deploying", done: 1, of: null });
    const { inputs, predictions } = draft;
    const workload = { ...inputs.workload, requestsPerSecond };
    const own = { ...draft, inputs: { ...inputs, workload }, predictions: { ...predictions, p95Seconds: requestsPerSecond / 10 } };
    return { outcome: "plan", plan: sealPlan(own, new Date(0)) };
  };
  const found = async (onProgress?: (progress: PlanningProgress) => void): Promise<Plan> => {
    const answer = await highestPlannedRate(solve, asked, onProgress && { onProgress });
    if (answer.outcome === "infeasible") throw new Error(answer.reason);
    return answer.plan;
  };

  it("keeps the latency budget also where the planner plans whatever the latency, and says what refuses the next rate", async () => {
    const { inputs, predictions, solver } = await found();
    expect(predictions.p95Seconds).toBeLessThanOrEqual(5);
    expect(inputs.workload.requestsPerSecond).toBeGreaterThan(49);
    expect(solver.highestRate).toMatchObject({ firstRequestsPerSecond: 20, refused: { kind: "latency-budget" } });
    expect(solver.highestRate?.refused?.requestsPerSecond).toBeGreaterThan(50);
    expect(solver.highestRate?.refused?.reason).toContain("more than the latency budget of 5 s");
  });

  it("is sealed with the search in it: a plan for the same rate as given is another document", async () => {
    const plan = await found();
    expect(plan.inputs.rateChoice).toBe("highest");
    expect(planHashes(plan).id).toBe(plan.id);
    const given = await solve(plan.inputs.workload.requestsPerSecond, {});
    if (given.outcome === "infeasible") throw new Error(given.reason);
    expect(given.plan.id).not.toBe(plan.id);
    expect({ topology: given.plan.topologyHash, policy: given.plan.policyHash }).toEqual({
      topology: plan.topologyHash,
      policy: plan.policyHash,
    });
  });

  it("reports which rate is planned, and the planner's own progress at it", async () => {
    const told: PlanningProgress[] = [];
    await found((progress) => told.push(progress));
    expect(told.slice(0, 3)).toEqual([
      { phase: "searching", done: 0, of: null, rate: { requestsPerSecond: 20, number: 1 } },
      { phase: "deploying", done: 1, of: null, rate: { requestsPerSecond: 20, number: 1 } },
      { phase: "searching", done: 0, of: null, rate: { requestsPerSecond: 26, number: 2 } },
    ]);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import type { SolveAnswer } from "@/server/contracts/studio";
import { highestPlannedRate } from "./highestPlannedRate";

const none = (rate: number) => ({ outcome: "infeasible", kind: "overloaded", reason: `none at ${rate}` }) as SolveAnswer;
const plan = (rate: number) => ({ outcome: "plan", plan: { inputs: { workload: { requestsPerSecond: rate } } } }) as SolveAnswer;
const rateOf = (answer: SolveAnswer): number => (answer.outcome === "infeasible" ? 0 : answer.plan.inputs.workload.requestsPerSecond);

it("finds the highest rate that has a plan to 2 %, from below and from above it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 1, max: 1000, noNaN: true }),
      fc.double({ min: 0.1, max: 10, noNaN: true }),
      async (highest, start) => {
        const found = rateOf(await highestPlannedRate(async (rate) => (rate <= highest ? plan(rate) : none(rate)), highest * start));
        expect(found).toBeLessThanOrEqual(highest);
        expect(found * 1.021).toBeGreaterThanOrEqual(highest);
      },
    ),
  );
});

it("plans a malformed request once, as no rate mends it", async () => {
  const rates: number[] = [];
  const malformed = { outcome: "infeasible", kind: "malformed", reason: "no such model" } as SolveAnswer;
  const answer = await highestPlannedRate(async (rate) => {
    rates.push(rate);
    return malformed;
  }, 40);
  expect(answer).toBe(malformed);
  expect(rates).toEqual([40]);
});

it("gives the reason at the first rate where no rate has a plan", async () => {
  expect(await highestPlannedRate(async (rate) => none(rate), 40)).toEqual(none(40));
});

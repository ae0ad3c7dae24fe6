import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { candidatesFor } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { plansAtRates, situationOf } from "../testing/plansAtRates";
import { rateCases } from "../testing/rateCase";
import { compareRates } from "../testing/rateMonotony";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "./planningDesk";

/** Cases of eight rates, 28 pairs each: 224 pairs. */
const CASES = 8;

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => performance.now() / 1000);
});

test("what is feasible at a rate is feasible below it, and the best plan is no worse there, beyond the noise of its simulation", () => {
  fc.assert(
    fc.property(rateCases, (one) => {
      expect(compareRates(one.kind, plansAtRates(desk, one)).violations).toEqual([]);
    }),
    { numRuns: CASES, seed: 24, endOnFailure: true },
  );
});

test("an exploration of the studio has a routing that keeps up at every rate below one at which it has", () => {
  fc.assert(
    fc.property(rateCases, (one) => {
      const keepsUp = one.rates.map((requestsPerSecond) => {
        const answer = desk.work({ ...situationOf(one), requestsPerSecond }, { kind: "explore" }, () => false);
        if (answer.kind !== "exploration") return false;
        const exploration = decodeExploration(answer.exploration);
        const knobs = { kind: "latency-under-quality", latency: "end-to-end", latencyBudgetSeconds: null, maxGpus: 8 } as const;
        return candidatesFor(exploration, knobs).some(({ latencySeconds }) => latencySeconds < Number.POSITIVE_INFINITY);
      });
      expect(keepsUp).toEqual([...keepsUp].sort((a, b) => Number(b) - Number(a)));
    }),
    { numRuns: CASES, seed: 25, endOnFailure: true },
  );
});

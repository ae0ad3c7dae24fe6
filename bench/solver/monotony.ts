import fc from "fast-check";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { createPlanningDesk } from "@/server/planning/planner/planningDesk";
import { plansAtRates } from "@/server/planning/testing/plansAtRates";
import { rateCases } from "@/server/planning/testing/rateCase";
import { compareRates, type RateViolation } from "@/server/planning/testing/rateMonotony";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { once } from "../lib/once";
import { writeRows } from "../lib/results";

/** Cases of eight rates, 28 pairs each: 10,024 pairs. */
const CASES = 358;

const SEED = 1;

/** Results for pairs of rates, planned once for both figures. */
const measured = once(async () => {
  const desk = createPlanningDesk(await loadGlpkEngine(), () => performance.now() / 1000);
  const startedMs = performance.now();
  const rows = fc.sample(rateCases, { numRuns: CASES, seed: SEED }).map((one, at) => {
    const plans = plansAtRates(desk, one);
    if (at % 20 === 19) process.stderr.write(`monotony: ${at + 1} of ${CASES} cases\n`);
    const { rates, lightRates, kind } = one;
    return { at, kind, rates, lightPairs: (lightRates * (lightRates - 1)) / 2, plans, ...compareRates(kind, plans) };
  });
  writeRows("monotony", rows);
  return { rows, seconds: (performance.now() - startedMs) / 1000 };
});

async function violations(wanted: (kind: RateViolation["kind"]) => boolean, unit: string): Promise<Measurement> {
  const { rows, seconds } = await measured();
  const found = rows.flatMap((row) => row.violations).filter(({ kind }) => wanted(kind));
  const pairs = rows.reduce((sum, row) => sum + row.pairs, 0);
  const light = rows.reduce((sum, row) => sum + row.lightPairs, 0);
  const plans = rows.flatMap((row) => row.plans);
  const worst = Math.max(0, ...rows.map(({ worstP95Excess }) => worstP95Excess));
  const worstFound = found.length === 0 ? "" : `, the worst by ${(100 * Math.max(...found.map(({ excess }) => excess))).toFixed(1)} %`;
  return {
    figure: found.length,
    unit,
    detail: `of ${pairs.toLocaleString("en")} pairs${worstFound}, ${Math.round((100 * light) / pairs)} % with both rates below 5 % of what the smallest replica carries; ${CASES} workloads, ladders of 1 to 3 models and clusters of 1 to 8 GPUs, ${plans.filter((plan) => plan !== null).length} plans, ${plans.filter((plan) => plan === null).length} rates without one, ${Math.round(seconds)} s; the largest p95 below a higher rate's, noise or not, is ${(100 * worst).toFixed(1)} % over it`,
  };
}

/** Whether plans are monotone in the rate. A p95 counts as worse beyond the 90 % bands of both over blocks of the simulated traffic. */
export const monotonyBenchmarks: readonly Benchmark[] = [
  {
    name: "monotony: feasible at a rate, infeasible below it",
    budget: atMost(0, "a plan is found at a rate and none at a lower one"),
    run: () => violations((kind) => kind === "feasibility", "pairs"),
  },
  {
    name: "monotony: worse plan at the lower rate, beyond the noise",
    budget: atMost(0, "a lower rate gets a plan that is surely slower, worse or dearer"),
    run: () => violations((kind) => kind !== "feasibility", "pairs"),
  },
];

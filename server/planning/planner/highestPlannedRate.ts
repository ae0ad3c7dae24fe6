import { MOST_REQUESTS_PER_SECOND, type SolveRequest } from "@/server/contracts/planRequest";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import type { Plan } from "@/solver/plan/plan";
import { exactSecondsText, secondsText } from "@/solver/wording/wording";
import type { RequestOptions } from "./planningRequest";
import { sealPlan } from "./sealPlan";

type Infeasible = Extract<SolveAnswer, { outcome: "infeasible" }>;
type PlanAnswer = Exclude<SolveAnswer, Infeasible>;

/** Factor between the rates of the first bracket. */
const STEP = 1.3;

/** Most steps on either side: a factor of 67. */
const MOST_STEPS = 16;

/** Precision of the rate, as a factor: about the error of a plan's load. */
const TOLERANCE = 1.02;

/** Digits of a rate, fine beside the tolerance: so that a rate that is written down is the one that was planned. */
const RATE_DIGITS = 4;

/** The end of a search: the answer at the highest rate that has a plan, and the one at the lowest rate above it that has none. */
export interface SearchedRates {
  /** The answer at the first rate, where no lower rate has a plan either, or the request itself is malformed. */
  readonly answer: SolveAnswer;
  /** null where every higher rate that was tried has a plan, and where `answer` is none. */
  readonly refused: { readonly requestsPerSecond: number; readonly answer: Infeasible } | null;
}

/**
 * Searches the highest rate that has a plan (the throughput of Cascadia, section 4.1: the highest rate at a deadline). Every rate is planned
 * anew: steps of a factor of 1.3 from the first one until one has a plan and the next has none, then bisection to 2 %. On the assumption
 * that a rate without a plan means none above it.
 *
 * @param solve plans at a rate, requests a second.
 * @param from the first rate, above 0.
 */
export async function searchHighestRate(solve: (requestsPerSecond: number) => Promise<SolveAnswer>, from: number): Promise<SearchedRates> {
  const first = await solve(from);
  // Another rate mends no request that names what does not exist. Any other reason may be the load, also that of a floor out of reach.
  if (first.outcome === "infeasible" && first.kind === "malformed") return { answer: first, refused: null };
  const rising = first.outcome !== "infeasible";
  let [low, high] = [from, from];
  const found: { best: PlanAnswer | null; refused: Infeasible | null } = { best: null, refused: null };
  take(from, first);
  for (let step = 0; step < MOST_STEPS && low < MOST_REQUESTS_PER_SECOND; step += 1) {
    const next = rising ? Math.min(MOST_REQUESTS_PER_SECOND, rounded(low * STEP)) : rounded(high / STEP);
    const answer = await solve(next);
    take(next, answer);
    if ((answer.outcome === "infeasible") === rising) break;
  }
  if (found.best === null) return { answer: first, refused: null };
  while (high > low * TOLERANCE) {
    const middle = rounded(Math.sqrt(low * high));
    take(middle, await solve(middle));
  }
  return { answer: found.best, refused: found.refused && { requestsPerSecond: high, answer: found.refused } };

  function take(rate: number, answer: SolveAnswer): void {
    if (answer.outcome === "infeasible") {
      high = rate;
      found.refused = answer;
    } else {
      low = rate;
      found.best = answer;
    }
  }
}

const rounded = (rate: number): number => Number(rate.toPrecision(RATE_DIGITS));

/**
 * The plan for the highest rate that keeps an objective's floor and budget on its GPUs, by `searchHighestRate` from the request's rate. The
 * plan names the search (`inputs.rateChoice`) and what refuses the next rate (`solver.highestRate`). A routing set by hand is planned
 * whatever its latency, so its budget is kept here; its floor is not: its quality hardly depends on the rate.
 *
 * @param solve plans the request at a rate, requests a second.
 * @returns the answer at the first rate where no rate has a plan.
 */
export async function highestPlannedRate(
  solve: (requestsPerSecond: number, asking: RequestOptions) => Promise<SolveAnswer>,
  { requestsPerSecond: from, objective }: Pick<SolveRequest, "requestsPerSecond" | "objective">,
  asking: RequestOptions = {},
): Promise<SolveAnswer> {
  let number = 0;
  const { answer, refused } = await searchHighestRate(async (requestsPerSecond) => {
    number += 1;
    const own = withRate(asking, { requestsPerSecond, number });
    own.onProgress?.({ phase: "searching", done: 0, of: null });
    return withinBudget(await solve(requestsPerSecond, own), objective);
  }, from);
  if (answer.outcome === "infeasible") return answer;
  const { plan } = answer;
  const highestRate: NonNullable<Plan["solver"]["highestRate"]> = {
    firstRequestsPerSecond: from,
    refused: refused && { requestsPerSecond: refused.requestsPerSecond, kind: refused.answer.kind, reason: refused.answer.reason },
  };
  const searched = { ...plan, inputs: { ...plan.inputs, rateChoice: "highest" as const }, solver: { ...plan.solver, highestRate } };
  return { ...answer, plan: sealPlan(searched, new Date(plan.metadata.createdAt)) };
}

/** The same options, with the planned rate in the reports of progress. */
function withRate(asking: RequestOptions, rate: NonNullable<PlanningProgress["rate"]>): RequestOptions {
  const { onProgress } = asking;
  return onProgress === undefined ? asking : { ...asking, onProgress: (progress) => onProgress({ ...progress, rate }) };
}

/** The answer, or that its plan exceeds the latency budget. */
function withinBudget(answer: SolveAnswer, { latency, latencyBudgetSeconds }: SolveRequest["objective"]): SolveAnswer {
  if (answer.outcome === "infeasible" || latencyBudgetSeconds === null) return answer;
  const { p95Seconds, largestStageP95Seconds } = answer.plan.predictions;
  const held = latency === "end-to-end" ? p95Seconds : largestStageP95Seconds;
  if (held <= latencyBudgetSeconds) return answer;
  return {
    outcome: "infeasible",
    kind: "latency-budget",
    reason: `It takes ${secondsText(held)}, more than the latency budget of ${exactSecondsText(latencyBudgetSeconds)}.`,
    bestQuality: null,
    bestLatencySeconds: held,
  };
}

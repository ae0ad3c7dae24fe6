import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { NORMAL_90 } from "@/solver/numeric/interval";
import { mean, quantile } from "@/solver/numeric/quantile";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { Plan } from "@/solver/plan/plan";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { shippedReplica } from "../lib/replica";

/** What engines are: the planner's model, or one that deviates from it as the emulator's do. */
export type Engines = "as modelled" | "perturbed";

/** Days of traffic: each draws other prompts and starts at another place of the recorded arrivals. */
const DAYS = 5;
const REQUESTS = 10_000;

/** Share of a day's requests that are left out while the cluster fills up: some times the p95 of any plan here. */
const WARM_UP_SHARE = 0.25;

/** A plan on traffic that it was not made from. */
export interface HeldOutRuns {
  /** By day. */
  readonly p95Seconds: readonly number[];
  /** Mean label of the answers to each held-out prompt over all days; NaN for a prompt that was never drawn. */
  readonly labels: Float64Array;
  /** Share of the requests whose answer is not that of the first model. */
  readonly laterShare: number;
}

export interface Served {
  readonly plan: Plan;
  /** With the scores that the policy routes by. */
  readonly workload: Workload;
  readonly requestsPerSecond: number;
}

/**
 * Simulates a plan on draws of held-out prompts. The same day has the same arrivals and prompts for every plan, so that plans are compared
 * in pairs.
 */
export function heldOutRuns({ plan, workload, requestsPerSecond }: Served, engines: Engines): HeldOutRuns {
  const rows = workload.outcomes.promptIds.length;
  const { heldOut } = splitPrompts(rows, workload.seed);
  const [sums, draws] = [new Float64Array(rows), new Float64Array(rows)];
  let [later, counted] = [0, 0];
  const p95Seconds = Array.from({ length: DAYS }, (_, day) => {
    const arrivalSeconds = rotated(workload.arrivalSeconds, day / DAYS);
    const sample = drawSample(
      { ...workload, arrivalSeconds },
      { part: "heldOut", requestsPerSecond, requests: REQUESTS, seed: 1000 + day },
    );
    const outcome = simulateCluster({
      policy: buildPolicy(plan.policy),
      replicas: replicasOf(plan, engines === "perturbed" ? day : null),
      sample,
      outcomes: workload.outcomes,
      ...(plan.policy.kind === "cascade"
        ? { judgeSeconds: plan.policy.judge.secondsPerCall, judgeVariation: plan.policy.judge.variation }
        : { judgeSeconds: 0 }),
    });
    const warmUp = Math.floor(WARM_UP_SHARE * REQUESTS);
    for (let request = warmUp; request < REQUESTS; request += 1) {
      const row = sample.prompt[request] ?? 0;
      sums[row] = (sums[row] ?? 0) + (outcome.quality[request] ?? 0);
      draws[row] = (draws[row] ?? 0) + 1;
      if ((outcome.finalStage[request] ?? 0) > 0) later += 1;
      counted += 1;
    }
    return quantile(outcome.endToEndSeconds.subarray(warmUp), 0.95);
  });
  return {
    p95Seconds,
    labels: Float64Array.from(heldOut, (row) => (sums[row] ?? 0) / (draws[row] ?? 0)),
    laterShare: later / counted,
  };
}

/** The engines of a plan; with a seed they deviate from their model like an emulated cluster's under its hidden truth. */
function replicasOf({ deployment }: Plan, seed: number | null): ClusterReplica[] {
  return deployment.flatMap(({ model, gpu, replicas }) =>
    replicas.flatMap((group, at) => {
      const modelled = shippedReplica(model, gpu, group.tp, group.pp);
      return Array.from({ length: group.count }, (_, index) => {
        const id = `${model} ${at} ${index}`;
        const replica = seed === null ? modelled : modelPerturbation(modelled, vllmProfile.errors, { seed, engineId: id });
        return { id, model, replica, maxInFlight: inFlightLimit(group) };
      });
    }),
  );
}

/** Arrivals that start a share of the way into the record and come round to it. */
function rotated(arrivalSeconds: Float64Array, share: number): Float64Array {
  const count = arrivalSeconds.length;
  const first = Math.floor(share * count);
  const span = (arrivalSeconds[count - 1] ?? 0) * (1 + 1 / (count - 1));
  const from = arrivalSeconds[first] ?? 0;
  return Float64Array.from({ length: count }, (_, at) => {
    const own = arrivalSeconds[(first + at) % count] ?? 0;
    return own - from + (first + at >= count ? span : 0);
  });
}

/** Mean over prompts with its 90 % interval; prompts that were never drawn are left out. */
export function overPrompts(labels: ArrayLike<number>): SeedEstimate {
  const known = Array.from(labels).filter((label) => !Number.isNaN(label));
  const value = mean(known);
  const squares = known.reduce((sum, label) => sum + (label - value) ** 2, 0);
  const half = NORMAL_90 * Math.sqrt(squares / (known.length - 1) / known.length);
  return { value, low: value - half, high: value + half, seeds: known.length };
}

/** One plan beside another on the same days and prompts. */
export interface Paired {
  /** p95 divided by the other's. */
  readonly p95Ratio: SeedEstimate;
  /** Quality above the other's, in points. */
  readonly quality: SeedEstimate;
}

export function paired(own: HeldOutRuns, other: HeldOutRuns): Paired {
  const logs = seedEstimate(own.p95Seconds.map((seconds, day) => Math.log(seconds / (other.p95Seconds[day] ?? Number.NaN))));
  if (logs === null) throw new Error("a plan has no p95 on some day");
  const end = (log: number | null): number | null => (log === null ? null : Math.exp(log));
  return {
    p95Ratio: { value: Math.exp(logs.value), low: end(logs.low), high: end(logs.high), seeds: logs.seeds },
    quality: overPrompts(own.labels.map((label, at) => label - (other.labels[at] ?? Number.NaN))),
  };
}

export type Verdict = "faster" | "slower" | "undecided";

/** Faster or slower if the intervals of both kinds of engines say so. */
export function verdictOf(pairs: readonly Paired[]): Verdict {
  if (pairs.every(({ p95Ratio }) => (p95Ratio.high ?? 1) < 1)) return "faster";
  if (pairs.every(({ p95Ratio }) => (p95Ratio.low ?? 1) > 1)) return "slower";
  return "undecided";
}

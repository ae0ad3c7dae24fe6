import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ClusterOutcome, StageOutcome } from "@/solver/cluster/clusterOutcome";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mean, quantile } from "@/solver/numeric/quantile";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { CascadePolicy, Objective } from "@/solver/plan/plan";
import type { SharedEngines } from "@/solver/plan/sharedEngines";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawSample } from "@/solver/workload/sample";
import type { Workload } from "@/solver/workload/workload";
import type { Explorer } from "../explore/explorer";
import type { PlanningSituation } from "../explore/situation";
import type { Deployed } from "./deployed";
import type { DeployedStage } from "./deployedStage";
import { measuredRequests, type Statistic, statistic } from "./predictionBand";

/** The outcome of the whole simulation of a cascade. */
export interface WholeSimulation {
  /** Objective latency in seconds. */
  readonly verifiedSeconds: number;
  /** Requests simulated. */
  readonly requests: number;
  /** End-to-end latencies and those of each stage, without the first requests, which arrive while the cluster fills up. */
  readonly endToEndSeconds: Float64Array;
  readonly measured: readonly MeasuredStage[];
  /** Mean time of a judgement; 0 where none was made. */
  readonly judgeMeanSeconds: number;
}

/** A stage in the whole simulation. Percentiles are at the objective's. */
interface MeasuredStage {
  readonly percentile: Statistic;
  readonly mean: Statistic;
  /** Percentile of the time to the first token. */
  readonly ttftPercentile: Statistic;
}

/**
 * Requests simulated to verify a plan: the recorded trace once through, within these bounds. Its first minute alone would miss
 * the bursts that come later: on the conversation trace of Azure that made a p95 20 % too low.
 */
const VERIFIED_REQUESTS = { least: 2500, most: 20_000 };

/** Share of the simulated requests that arrive while the cluster fills up and are left out. */
export const WARM_UP_SHARE = 0.15;

/** Requests used to simulate a workload's plans. */
export const simulatedRequests = ({ arrivalSeconds }: Pick<Workload, "arrivalSeconds">): number =>
  Math.min(VERIFIED_REQUESTS.most, Math.max(VERIFIED_REQUESTS.least, arrivalSeconds.length));

interface Simulated extends Pick<PlanningSituation, "measuredSeconds" | "workload"> {
  readonly explorer: Explorer;
  readonly objective: Objective;
}

/** Simulates deployed stages under the policy that the gateway runs, on planning prompts; null when requests are left unserved. */
export function simulateWhole(
  { explorer, workload, objective, measuredSeconds }: Simulated,
  policy: CascadePolicy,
  deployed: Pick<Deployed, "deployment" | "kept">,
): WholeSimulation | null {
  const { quantile: q } = explorer.input;
  const requests = simulatedRequests(workload);
  const outcome = simulated({ explorer, workload }, policy, { ...deployed, pace: 1 });
  if (outcome.unserved > 0) return null;
  const warmUp = Math.floor(WARM_UP_SHARE * requests);
  const endToEndSeconds = outcome.endToEndSeconds.subarray(warmUp);
  const measured = outcome.stages.map((stage) =>
    settledStage(stage, warmUp, q, stage.share * measuredRequests(explorer.input.requestsPerSecond, measuredSeconds)),
  );
  const verifiedSeconds =
    objective.latency === "end-to-end" ? quantile(endToEndSeconds, q) : Math.max(...measured.map((stage) => stage.percentile.seconds));
  return { verifiedSeconds, requests, endToEndSeconds, measured, judgeMeanSeconds: outcome.judgeMeanSeconds };
}

/** Fewer requests do not determine a percentile. */
const LEAST_COUNTED = 500;

/**
 * The same with engines whose every time is multiplied by `pace`: arrivals come so much faster instead, and all times are then multiplied.
 *
 * @returns the percentile end to end over a measurement of `measured` requests, in seconds; null when requests are left unserved.
 */
export function pacedSeconds(
  run: Pick<Simulated, "explorer" | "workload">,
  policy: CascadePolicy,
  deployed: Pick<Deployed, "deployment" | "kept"> & { readonly pace: number; readonly measured: number },
): number | null {
  const { endToEndSeconds, unserved } = simulated(run, policy, deployed);
  if (unserved > 0) return null;
  const settled = endToEndSeconds.subarray(Math.floor(WARM_UP_SHARE * endToEndSeconds.length));
  // Overloaded engines have queues that grow with the length of a run: only those of a measurement count.
  const counted = settled.subarray(0, Math.max(LEAST_COUNTED, deployed.measured));
  return deployed.pace * quantile(counted, run.explorer.input.quantile);
}

function simulated(
  { explorer, workload }: Pick<Simulated, "explorer" | "workload">,
  policy: CascadePolicy,
  { deployment, kept, pace }: Pick<Deployed, "deployment" | "kept"> & { readonly pace: number },
): ClusterOutcome {
  const { requestsPerSecond, shapes, sample: planning, judge, judgeEngine, seed, sharedEngines, gates } = explorer.input;
  const judging = kept.find(({ model }) => model === judgeEngine?.model);
  const requests = simulatedRequests(workload);
  return simulateCluster({
    policy: buildPolicy(policy),
    replicas: deployment.flatMap((stage) => clusterReplicas(stage, shapes[planning.models.indexOf(stage.model)] ?? [], sharedEngines)),
    sample: drawSample(workload, { part: "planning", requestsPerSecond: pace * requestsPerSecond, requests, seed }),
    outcomes: workload.outcomes,
    // The judge keeps its own pace.
    judgeSeconds: judge.secondsPerCall / pace,
    judgeVariation: judge.variation,
    ...(judgeEngine === undefined || judging === undefined
      ? {}
      : { judgeEngines: { ...judgeEngine, replicas: clusterReplicas(judging, judgeEngine.shapes) } }),
    ...(gates === undefined
      ? {}
      : {
          gates: gates.stages,
          peerReplicas: gates.peers.flatMap((peer) =>
            kept.filter(({ model }) => model === peer.model).flatMap((own) => clusterReplicas(own, peer.shapes)),
          ),
        }),
  });
}

function clusterReplicas(
  { model, replicas, groups }: DeployedStage,
  shapes: readonly ShapedReplica[],
  shared?: SharedEngines,
): ClusterReplica[] {
  return replicas.flatMap(({ gpu, shape, count }, group) => {
    const replica = shapes.find((candidate) => candidate.shape === shape)?.replica;
    if (replica === undefined) return [];
    const name = `${model} ${gpu} ${shape.tp}x${shape.pp}`;
    const maxInFlight = inFlightLimit(groups[group] ?? {});
    return Array.from({ length: count }, (_, index) => {
      const node = groups[group]?.placements[index]?.[0]?.node;
      const engine = shared === undefined || node === undefined ? undefined : (shared.hostOf.get(node) ?? node);
      return { id: `${name} ${index}`, model, replica, maxInFlight, ...(engine === undefined ? {} : { engine }) };
    });
  });
}

/**
 * Latencies of a stage over the requests after the warm-up, at the objective's percentile, with their spread over the traffic.
 *
 * @param measured requests of the stage in a measurement: see `statistic`.
 */
export function settledStage(
  { request, latencySeconds, ttftSeconds }: Pick<StageOutcome, "request" | "latencySeconds" | "ttftSeconds">,
  warmUp: number,
  q: number,
  measured?: number,
): MeasuredStage {
  const settled = (values: Float64Array): Float64Array => values.filter((_, answer) => (request[answer] ?? 0) >= warmUp);
  const latencies = settled(latencySeconds);
  const percentile = (seconds: Float64Array): number => quantile(seconds, q);
  return {
    percentile: statistic(latencies, percentile, measured),
    mean: statistic(latencies, mean, measured),
    ttftPercentile: statistic(settled(ttftSeconds), percentile, measured),
  };
}

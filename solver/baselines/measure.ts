import { settledStage } from "../cascade/deploy/wholeSimulation";
import {
  type PlanningSample,
  planningSample,
  promptsReaching,
  promptsScored,
  type Routed,
  routePrompts,
  stageCallsPerRequest,
} from "../cascade/routing/routing";
import { judgedVisits } from "../cascade/tables/judgeTables";
import { simulateCluster } from "../cluster/simulateCluster";
import type { ReplicaModel } from "../engine/replicaModel";
import type { ReplicaRequests } from "../engine/replicaOutcome";
import { saturationRate, utilisationAt } from "../engine/saturation";
import { simulateReplica } from "../engine/simulateReplica";
import { atRate } from "../engine/thinning";
import { mean, quantile } from "../numeric/quantile";
import { mixSeed, seededRandom } from "../numeric/random";
import type { Policy } from "../policies/core/policy";
import { jointPolicy } from "../policies/jointPolicy";
import { fcfsOrder } from "../policies/orders/fcfsOrder";
import { leastLoadPlace } from "../policies/places/leastLoadPlace";
import { cascadeRoute } from "../policies/routes/cascadeRoute";
import { startWhereSure } from "../policies/routes/directStart";
import { asksJudgeOn, gateDocumentsOf, type StageGates, whenUnscored } from "../stageGates/stageGate";
import type { OutcomeTable } from "../workload/workload";
import { clusterReplicas, type ReplicaChoice, type System, type SystemStage } from "./system";

/** The traffic that systems are measured on: the same requests for all, at any rate. */
export interface Traffic {
  readonly outcomes: OutcomeTable;
  /** Row index in the outcome table of each request. */
  readonly prompt: Int32Array;
  /** Recorded arrivals, one per request, unscaled. */
  readonly arrivalSeconds: Float64Array;
  readonly judgeSeconds: number;
}

/** A system's results on the traffic at one rate. */
export interface Measured {
  /** The quantile of arrival to accepted answer, judging included; Infinity where more requests than those above it were not served. */
  readonly percentileSeconds: number;
  readonly meanSeconds: number;
  /** The largest of the stages' own quantiles, without judging: the source's objective. */
  readonly largestStagePercentileSeconds: number;
  readonly unserved: number;
}

/** Required SLO attainment: the smallest deadline that this share of requests meets is its quantile of latency. */
const ATTAINMENT = 0.95;

/** Share of the requests that arrive while the cluster fills up and are left out. */
const WARM_UP_SHARE = 0.15;

/** Search range of `highestRate` around its start, as a factor. */
const RATE_SPAN = 64;

/** Requests of a run at saturation: several times the largest batch. */
const SATURATION_REQUESTS = 900;

/** Gap between requests of an unloaded replica: longer than any request. */
const ALONE_SECONDS = 1e5;

/** Draws `requests` prompts with replacement from `rows` for the head of a recorded trace, or for all of it where it is shorter. */
export function drawTraffic(
  source: Omit<Traffic, "prompt">,
  { rows, requests, seed }: { readonly rows: Int32Array; readonly requests: number; readonly seed: number },
): Traffic {
  const random = seededRandom(mixSeed(seed, "measured traffic"));
  const arrivalSeconds = source.arrivalSeconds.subarray(0, requests);
  return { ...source, arrivalSeconds, prompt: Int32Array.from(arrivalSeconds, () => rows[random.int(rows.length)] ?? 0) };
}

/**
 * Simulates a whole system on the traffic at a mean rate. Deterministic.
 *
 * @param at `quantile` of the latencies; left out: that of the SLO attainment, .95.
 */
export function measure(
  system: System,
  traffic: Traffic,
  at: ReplicaChoice & { readonly requestsPerSecond: number; readonly quantile?: number },
): Measured {
  const { prompt, judgeSeconds } = traffic;
  const { quantile: q = ATTAINMENT } = at;
  const gates = gatesOf(system);
  const { endToEndSeconds, unserved, stages } = simulateCluster({
    policy: policyOf(system),
    replicas: clusterReplicas(system, at),
    sample: { arrivalSeconds: atRate(traffic.arrivalSeconds, at.requestsPerSecond), prompt },
    outcomes: prescored(system) ?? traffic.outcomes,
    judgeSeconds,
    ...(gates === undefined ? {} : { gates, peerReplicas: clusterReplicas({ stages: system.peers ?? [] }, at) }),
    ...(system.judge === undefined
      ? {}
      : { judgeEngines: { ...system.judge, replicas: clusterReplicas({ stages: [system.judge.engines] }, at) } }),
  });
  const warmUp = Math.floor(WARM_UP_SHARE * prompt.length);
  const settled = endToEndSeconds.subarray(warmUp);
  return {
    percentileSeconds: quantile(settled, q),
    meanSeconds: mean(settled),
    largestStagePercentileSeconds: Math.max(
      // A router's first stage may get no requests.
      ...stages.filter(({ requests }) => requests > 0).map((stage) => settledStage(stage, warmUp, q).percentile.seconds),
    ),
    unserved,
  };
}

/**
 * Load of the busiest stage at a rate, peers of gates and a judge's engines among them: calls per second over the rate at which its replicas
 * finish when they always have work, on the prompts `rows` that reach it. At 1 and above the stage does not sustain the load, and a percentile
 * depends on the length of the run.
 */
export function busiestLoad(
  system: System,
  { outcomes, rows }: { readonly outcomes: OutcomeTable; readonly rows: Int32Array },
  at: ReplicaChoice & { readonly requestsPerSecond: number },
): number {
  const routed = routedBy(system, outcomes, rows);
  const gates = gatesOf(system);
  const rowsOf = (prompts: ArrayLike<number>): Int32Array => Int32Array.from(prompts, (prompt) => rows[prompt] ?? 0);
  const stages = system.stages.map((deployed, stage) =>
    loadOf(deployed, {
      own: rowsOf(promptsReaching(routed, stage)),
      callsPerRequest: stageCallsPerRequest(routed, stage, gates?.get(deployed.model)?.samples ?? 0),
    }),
  );
  const peers = (system.peers ?? []).map((peer) => {
    const asking = system.stages.flatMap(({ model }, stage) => (gates?.get(model)?.peers.includes(peer.model) ? [stage] : []));
    const own = rowsOf(asking.flatMap((stage) => [...promptsScored(routed, stage)]));
    return loadOf(peer, { own, callsPerRequest: own.length / rows.length });
  });
  return Math.max(...stages, ...peers, judgeLoad());

  function judgeLoad(): number {
    const { judge } = system;
    if (judge === undefined) return 0;
    const models = system.stages.map(({ model }) => model);
    const sample = planningSample(outcomes, rows, models);
    const asks = gates === undefined ? {} : { asksJudge: asksJudgeOn(gates, models, rows) };
    const visits = judgedVisits({ stages: models.map((_, stage) => stage), routed }, asks);
    const read = visits.flatMap(({ model, prompts }) =>
      Array.from(prompts, (prompt) => (sample.inputTokens[prompt] ?? 0) + (sample.outputTokens[model]?.[prompt] ?? 0) + judge.rubricTokens),
    );
    if (read.length === 0) return 0;
    const inputTokens = Int32Array.from({ length: SATURATION_REQUESTS }, (_, index) => read[index % read.length] ?? 0);
    const work = { inputTokens, outputTokens: inputTokens.map(() => judge.outputTokens) };
    return loadAt(judge.engines, { work, callsPerRequest: read.length / rows.length });
  }

  function loadOf(deployed: SystemStage, { own, callsPerRequest }: { readonly own: Int32Array; readonly callsPerRequest: number }): number {
    const { model } = deployed;
    if (own.length === 0) return 0;
    const requests = Int32Array.from({ length: SATURATION_REQUESTS }, (_, index) => own[index % own.length] ?? 0);
    const sample = planningSample(outcomes, requests, [model]);
    const work = { inputTokens: sample.inputTokens, outputTokens: sample.outputTokens[0] ?? new Int32Array() };
    return loadAt(deployed, { work, callsPerRequest });
  }

  function loadAt(
    deployed: SystemStage,
    { work, callsPerRequest }: { readonly work: ReplicaRequests; readonly callsPerRequest: number },
  ): number {
    const { replicas } = deployed;
    const carried = (replica: ReplicaModel): number => saturationRate(replica, work, SATURATION_REQUESTS) ?? 0;
    // Replicas of a group are equal as modelled, and one of each is enough; in truth no two are.
    const each = at.truth === undefined ? replicas.map((one) => ({ ...one, count: 1 })) : replicas;
    const carries = clusterReplicas({ stages: [{ ...deployed, replicas: each }] }, at).reduce(
      (sum, { replica }, group) => sum + (at.truth === undefined ? (replicas[group]?.count ?? 0) : 1) * carried(replica),
      0,
    );
    return utilisationAt(at.requestsPerSecond * callsPerRequest, carries);
  }
}

/** The stages at which the prompts `rows` end in a system and the resulting quality: exact, each prompt once. */
export function routedBy({ stages, routing }: System, outcomes: OutcomeTable, rows: ArrayLike<number>): Routed {
  const models = stages.map(({ model }) => model);
  const positions = models.map((_, stage) => stage);
  if (routing.kind === "router") return routedOnce(planningSample(routing.prescored, rows, models), positions, routing.thresholds);
  const { directStart, gates } = routing;
  const scored = planningSample(directStart?.prescored ?? outcomes, rows, models);
  const sample = gates === undefined ? scored : { ...scored, asksJudge: asksJudgeOn(gates, models, rows) };
  return routePrompts(sample, positions, routing.thresholds, directStart?.below);
}

/** The gates of a system's cascade; undefined: the judge scores all of its answers, or none are scored. */
const gatesOf = ({ routing }: System): StageGates | undefined => (routing.kind === "cascade" ? routing.gates : undefined);

/** Sends every prompt to the first stage whose router score reaches its threshold, or to the last, and to no other. */
export const routedOnce = (sample: PlanningSample, stages: readonly number[], thresholds: readonly number[]): Routed =>
  routePrompts(
    sample,
    stages,
    thresholds.map(() => 0),
    thresholds,
  );

/** The outcome table with the scores of the system's router; null where it has none. */
const prescored = ({ routing }: System): OutcomeTable | null =>
  (routing.kind === "router" ? routing.prescored : routing.directStart?.prescored) ?? null;

function policyOf(system: System) {
  const models = system.stages.map(({ model }) => model);
  if (system.routing.kind === "router") return routerPolicy(models, system.routing.thresholds);
  const { thresholds, directStart, gates } = system.routing;
  const stages = models.map((model) => ({ model }));
  const documents = gates === undefined ? [] : [...gateDocumentsOf(gates, models)];
  const route = cascadeRoute({
    ...{ stages, thresholds: [...thresholds] },
    ...(directStart === undefined ? {} : { directStart }),
    ...(gates === undefined ? {} : { gates: documents, judge: { whenDown: whenUnscored(documents) } }),
  });
  return jointPolicy({ route, order: fcfsOrder, place: leastLoadPlace });
}

/**
 * The highest mean rate at which 95 % of the requests meet a deadline, to `tolerance`, a factor above 1: bisection within a factor of 64 of
 * `from`, on the assumption that latency rises with the rate. 0 where even the lowest rate misses.
 */
export function highestRate(keeps: (requestsPerSecond: number) => boolean, from: number, tolerance: number): number {
  let low = 0;
  let high = from;
  if (keeps(from)) {
    low = from;
    for (high = from * 2; high < from * RATE_SPAN && keeps(high); high *= 2) low = high;
  } else {
    for (low = from / 2; low > from / RATE_SPAN && !keeps(low); low /= 2) high = low;
    if (!keeps(low)) return 0;
  }
  while (high > low * tolerance) {
    const middle = Math.sqrt(low * high);
    if (keeps(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The base of the SLO scale (Cascadia, section 4.1), one number for all systems: the mean over the ladder's models of the mean
 * latency of one request alone, on the model's smallest replica that fits.
 */
export function baseSeconds(outcomes: OutcomeTable, rows: Int32Array, { models, shapes }: ReplicaChoice): number {
  const sample = planningSample(outcomes, rows, models);
  const means = models.flatMap((_, model) => {
    const smallest = shapes[model]?.[0];
    if (smallest === undefined) return [];
    const { endToEndSeconds } = simulateReplica(smallest.replica, {
      arrivalSeconds: Float64Array.from(rows, (_, index) => index * ALONE_SECONDS),
      inputTokens: sample.inputTokens,
      outputTokens: sample.outputTokens[model] ?? new Int32Array(),
    });
    return [mean(endToEndSeconds)];
  });
  return mean(means);
}

/**
 * A router that chooses the model before any has answered: a cascade with a direct start whose answers are all accepted unjudged.
 *
 * @param models one per stage.
 * @param thresholds router scores, one fewer than models.
 */
function routerPolicy(models: readonly string[], thresholds: readonly number[]): Policy {
  return jointPolicy({
    route: {
      kind: "router",
      needs: ["confidence"],
      models,
      start: ({ routerScores }) => startWhereSure(models, thresholds, routerScores),
      judges: () => false,
      verdict: () => ({ kind: "accept", reason: "routed-before-answering" }),
    },
    order: fcfsOrder,
    place: leastLoadPlace,
  });
}

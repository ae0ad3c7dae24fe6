import type { Policy } from "@/solver/policies/core/policy";
import type { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import type { ClusterReplica } from "./clusterEngines";
import type { RecordedRequest } from "./recordedWorld";

/** Delays of the policy's own work, in which requests do not wait for one another. */
interface PolicyOverhead {
  /**
   * Time to read a prompt for confidence in models, before the first requests of a program join a queue, or for accurate configurations,
   * while they wait in it: where the policy reads these and they are predicted.
   */
  readonly routeSeconds: number;
  /** Time to predict a length: before each request joins a queue, where the policy reads lengths and they are predicted. */
  readonly predictSeconds: number;
  /** From the decision to send a request to an engine until its arrival there. */
  readonly decideSeconds: number;
}

/** Scores of requests' answers by the gates of their models. */
export interface ProgramScoring {
  /** By model, the score (0..100) of each request's answer; NaN where the gate gives none. */
  readonly scores: readonly Float64Array[];
  /** Time of a score. */
  readonly seconds: number;
  /** The same for answers to calls of workflows, by gates that read the answer alone and take no time; left out: these get no score. */
  readonly calls?: readonly Float64Array[];
}

const NO_OVERHEAD: PolicyOverhead = { routeSeconds: 0, predictSeconds: 0, decideSeconds: 0 };

/**
 * Delays before a request that begins its program joins a queue, before any other does, from when one that begins its program joins until
 * the search for its accurate configurations ends, and on the way to an engine.
 */
export interface ProgramDelays {
  readonly firstSeconds: number;
  readonly laterSeconds: number;
  readonly searchSeconds: number;
  readonly decideSeconds: number;
}

export interface ProgramSimulation {
  /** Consumed by the run: a policy has its own state. */
  readonly policy: Policy;
  readonly sample: ProgramSample;
  /**
   * The capacity of a replica determines where requests wait: in the central queue above `maxInFlight`, or, if that is more than they ever
   * get, inside the engines, by the priority from the policy's order. `replica.aging` keeps engines from starving any.
   */
  readonly replicas: readonly ClusterReplica[];
  /** Left out: no predictions, and policies use the other inputs. */
  readonly predictions?: ProgramPredictions;
  /**
   * Learns from the programs as they are served, and makes forecasts. Left out: an empty learner where the policy reads learnt
   * `workflows`; none otherwise.
   */
  readonly learner?: WorkflowLearner;
  /** Left out: none. */
  readonly overhead?: PolicyOverhead;
  /** How answers are scored; left out: no answer is scored, and a policy that scores answers is refused. */
  readonly scoring?: ProgramScoring;
  /**
   * Seconds between readings of the engines' KV use and preemptions, at multiples of it. Readings older than 3 s are stale, as in the
   * gateway, and those older than 10 s are not valid. 0 or left out: every decision sees the engines' current state.
   */
  readonly telemetrySeconds?: number;
  /**
   * The sample's requests as they were served once, in its order: they join, are answered, scored and searched for at the recorded times, with
   * recorded forecasts, whatever engines, gates and delays would take. Left out: all of that is modelled.
   */
  readonly recorded?: readonly RecordedRequest[];
}

/** The delays of a simulation, from the policy's inputs and the available predictions. */
export function delaysOf({ policy, predictions = {}, overhead = NO_OVERHEAD }: ProgramSimulation): ProgramDelays {
  const { confidence, configurations, requestTokens, remainingTokens } = predictions;
  const predicts = policy.needs.includes("lengths") && (requestTokens ?? remainingTokens) !== undefined;
  const routes = policy.needs.includes("confidence") && confidence !== undefined;
  const searches = policy.needs.includes("configurations") && configurations !== undefined;
  const laterSeconds = predicts ? overhead.predictSeconds : 0;
  return {
    firstSeconds: laterSeconds + (routes ? overhead.routeSeconds : 0),
    laterSeconds,
    searchSeconds: searches ? overhead.routeSeconds : 0,
    decideSeconds: overhead.decideSeconds,
  };
}

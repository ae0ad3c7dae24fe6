import type { Policy } from "@/solver/policies/core/policy";
import type { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import type { ClusterReplica } from "./clusterEngines";

/** What the policy's own work takes: delays in which requests do not wait for one another. */
interface PolicyOverhead {
  /**
   * Reading a prompt for confidence in models or for accurate configurations: before the first requests of a program join a queue, where the policy reads
   * that and it is predicted.
   */
  readonly routeSeconds: number;
  /** Predicting a length: before each request joins a queue, where the policy reads lengths and they are predicted. */
  readonly predictSeconds: number;
  /** From the decision to send a request to an engine until it is there. */
  readonly decideSeconds: number;
}

const NO_OVERHEAD: PolicyOverhead = { routeSeconds: 0, predictSeconds: 0, decideSeconds: 0 };

/** Delays before a request that begins its program joins a queue, before any other does, and on the way to an engine. */
export interface ProgramDelays {
  readonly firstSeconds: number;
  readonly laterSeconds: number;
  readonly decideSeconds: number;
}

export interface ProgramSimulation {
  /** Used up: a policy keeps state of its own. */
  readonly policy: Policy;
  readonly sample: ProgramSample;
  /**
   * What a replica may hold at once decides where requests wait: in the centre above `maxInFlight`; inside the engines, by the priority that
   * the policy's order gives them, where that is more than they ever get. `replica.aging` keeps engines from starving any.
   */
  readonly replicas: readonly ClusterReplica[];
  /** Left out: nothing predicts, and policies go by what they have. */
  readonly predictions?: ProgramPredictions;
  /**
   * Learns from the programs as they are served, and forecasts what comes. Left out: one that knows nothing yet, where the policy reads
   * what `workflows` teach; none otherwise.
   */
  readonly learner?: WorkflowLearner;
  /** Left out: none. */
  readonly overhead?: PolicyOverhead;
  /**
   * Seconds from one reading of the engines' KV use and preemptions to the next, at multiples of it. Readings older than 3 s are stale, as in the gateway, and
   * older than 10 s say nothing. 0 or left out: every decision sees the engines as they are.
   */
  readonly telemetrySeconds?: number;
}

/** The delays of a simulation, by what its policy reads and what is predicted there. */
export function delaysOf({ policy, predictions = {}, overhead = NO_OVERHEAD }: ProgramSimulation): ProgramDelays {
  const { confidence, configurations, requestTokens, remainingTokens } = predictions;
  const predicts = policy.needs.includes("lengths") && (requestTokens ?? remainingTokens) !== undefined;
  const routes =
    (policy.needs.includes("confidence") && confidence !== undefined) ||
    (policy.needs.includes("configurations") && configurations !== undefined);
  const laterSeconds = predicts ? overhead.predictSeconds : 0;
  return { firstSeconds: laterSeconds + (routes ? overhead.routeSeconds : 0), laterSeconds, decideSeconds: overhead.decideSeconds };
}

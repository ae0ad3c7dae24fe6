/** A view of a learner's results from the calls it saw. Everything is measured; times are seconds of the learner's clock. */
export interface WorkflowsView {
  readonly asOfSeconds: number;
  /** Most programs first. */
  readonly applications: readonly ApplicationView[];
  readonly agents: readonly AgentView[];
  readonly counts: WorkflowCounts;
}

export interface WorkflowCounts {
  /** Programs that have ended and were learnt from. */
  readonly programs: number;
  readonly calls: number;
  /** Programs in progress. */
  readonly openPrograms: number;
  /** Calls that named no agent. */
  readonly unnamedCalls: number;
  /** Calls that arrived after their program was considered ended: their own latency counts, their edges do not. */
  readonly lateCalls: number;
  /** Calls that named an upstream agent which their program had not called; those without any found one count as first calls. */
  readonly missingUpstream: number;
  /** Pairs of calls of one parent that touch within the clock's resolution: parallel and sequential cannot be distinguished. */
  readonly ties: number;
  /** Applications, agents and programs evicted for lack of room, the least recently seen first. */
  readonly forgotten: number;
}

export interface ApplicationView {
  readonly name: string;
  readonly programs: number;
  readonly lastSeenSeconds: number;
  /** From a program's first call to its last answer. */
  readonly meanSeconds: number;
  readonly nodes: readonly CallGraphNode[];
  readonly edges: readonly CallGraphEdge[];
}

export interface CallGraphNode {
  /** `application/agent`. */
  readonly key: string;
  /** The agent's name alone; empty for calls that named none. */
  readonly name: string;
  readonly calls: number;
  /** Programs in which it was called. */
  readonly programs: number;
  /** Programs that begin with it, and that end with it. */
  readonly begins: number;
  readonly ends: number;
  /** Mean number of sequential calls before its first in a program: 0 for those that begin. */
  readonly depth: number;
  /** From dispatch to answer, mean. */
  readonly meanSeconds: number;
  readonly meanOutputTokens: number | null;
}

export interface CallGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly calls: number;
  /** Programs in which it was taken at least once. */
  readonly programs: number;
  /** Calls in parallel with another call of the same parent. The rest are single or sequential. */
  readonly parallel: number;
  /** Calls that also read other answers. */
  readonly joins: number;
  /** Leads back to an agent that was called earlier in the same program. */
  readonly loop: boolean;
}

export interface AgentView {
  /** `application/agent`. */
  readonly key: string;
  readonly application: string;
  readonly name: string;
  /** From the zero anchor along the line of all agents; null until it has a place there. */
  readonly distanceSeconds: number | null;
  /** Sequential calls that its program has yet to make, including this one: the mean. */
  readonly remainingCalls: number;
  /** To the end of the program, without what its later calls waited in queues here. */
  readonly remaining: DistributionView;
  /** From dispatch to answer, by model. */
  readonly request: readonly (DistributionView & { readonly model: string })[];
}

export interface DistributionView {
  /** Observations since the start or the last restart. */
  readonly observations: number;
  /**
   * `converged` when the latest doubling of the sample hardly changed it; `drifted` when the following observations were of another
   * distribution, with which it restarted, until their number has doubled: then it has converged or is being learnt.
   */
  readonly state: "empty" | "learning" | "converged" | "drifted";
  /** At equal steps of probability, from minimum to maximum; empty where there are no observations. */
  readonly quantilesSeconds: readonly number[];
  /** Where the density is highest; null where there are no observations. */
  readonly modeSeconds: number | null;
}

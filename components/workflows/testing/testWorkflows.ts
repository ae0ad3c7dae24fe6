import type { AgentView, ApplicationView, CallGraphEdge, CallGraphNode, DistributionView } from "@/solver/workflow/learning/workflowsView";
import { agentName, applicationOf } from "../graph/agentIdentity";

/** An agent that ten programs called once each, for tests. */
export const testNode = (key: string, change: Partial<CallGraphNode> = {}): CallGraphNode => ({
  key,
  name: agentName(key),
  calls: 10,
  programs: 10,
  begins: 0,
  ends: 0,
  depth: 0,
  meanSeconds: 1,
  meanOutputTokens: 100,
  ...change,
});

/** An edge that ten programs took once each, for tests. */
export const testEdge = (from: string, to: string, change: Partial<CallGraphEdge> = {}): CallGraphEdge => ({
  from,
  to,
  calls: 10,
  programs: 10,
  parallel: 0,
  joins: 0,
  loop: false,
  ...change,
});

export const testApplication = (change: Partial<ApplicationView> = {}): ApplicationView => ({
  name: "app",
  programs: 10,
  lastSeenSeconds: 0,
  meanSeconds: 3,
  nodes: [],
  edges: [],
  ...change,
});

/** Latencies spread evenly between two, for tests. */
export const testDistribution = (from: number, to: number, change: Partial<DistributionView> = {}): DistributionView => ({
  observations: 64,
  state: "converged",
  quantilesSeconds: Array.from({ length: 33 }, (_, at) => from + ((to - from) * at) / 32),
  modeSeconds: (from + to) / 2,
  ...change,
});

export const testAgent = (key: string, change: Partial<AgentView> = {}): AgentView => ({
  key,
  application: applicationOf(key),
  name: agentName(key),
  distanceSeconds: 2,
  remainingCalls: 1,
  remaining: testDistribution(1, 3),
  request: [{ model: "m", ...testDistribution(0.5, 1) }],
  ...change,
});

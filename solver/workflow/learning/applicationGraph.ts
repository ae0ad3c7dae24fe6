import { BoundedMap } from "@/solver/collections/boundedMap";
import type { CallGraph } from "./callGraph";
import { DecayingMean } from "./decayingMean";
import type { LearnerBounds } from "./learnerBounds";
import { LearntAgent } from "./learntAgent";
import type { ObservedCall } from "./observedCall";
import type { KeptApplication, KeptEdge } from "./workflowSnapshot";
import type { ApplicationView, CallGraphEdge } from "./workflowsView";

/** The call graphs of an application's programs, merged: its agents, how often one followed another, and backward edges. */
export class ApplicationGraph {
  programs = 0;
  /** Number of agents evicted for lack of room. */
  forgotten = 0;
  lastSeenSeconds: number;
  /** How long its programs may be silent. */
  quietSeconds: number;
  private readonly agents: BoundedMap<LearntAgent>;
  private readonly edges: BoundedMap<KeptEdge>;
  private readonly seconds: DecayingMean;

  constructor(
    readonly name: string,
    private readonly bounds: LearnerBounds,
    { kept, nowSeconds }: { readonly kept?: KeptApplication; readonly nowSeconds: number },
  ) {
    this.lastSeenSeconds = nowSeconds - (kept?.lastSeenAgeSeconds ?? 0);
    this.quietSeconds = Math.min(Math.max(bounds.quietSeconds, kept?.quietSeconds ?? 0), bounds.longestQuietSeconds);
    this.seconds = new DecayingMean(kept?.seconds);
    this.agents = new BoundedMap(bounds.agents);
    this.edges = new BoundedMap(bounds.edges);
    if (kept === undefined) return;
    this.programs = kept.programs;
    for (const agent of kept.agents) this.agents.put(agent.name, new LearntAgent(name, agent.name, { bounds, kept: agent }));
    for (const edge of kept.edges) {
      if (this.agents.has(edge.from) && this.agents.has(edge.to)) this.edges.put(edgeKey(edge.from, edge.to), { ...edge });
    }
  }

  known(agent: string): LearntAgent | undefined {
    return this.agents.get(agent);
  }

  all(): MapIterator<LearntAgent> {
    return this.agents.values();
  }

  /** The agent, marked as just seen. */
  seen(agent: string): LearntAgent {
    const known = this.agents.get(agent) ?? new LearntAgent(this.name, agent, { bounds: this.bounds });
    const gone = this.agents.put(agent, known);
    if (gone !== undefined) {
      this.forgotten += 1;
      for (const { from, to } of this.edges.values()) if (from === gone.name || to === gone.name) this.edges.delete(edgeKey(from, to));
    }
    return known;
  }

  /** Merges the graph of a program that has ended. */
  learn(graph: CallGraph, durationSeconds: number): void {
    this.programs += 1;
    this.seconds.add(durationSeconds);
    this.learnNodes(graph);
    if (graph.calls.length > 1) this.learnEdges(graph);
  }

  /** Merges a program of one call that follows none: the same as `learn` with its graph, for the many requests that name no program. */
  learnSingle({ agent: name, arrivedSeconds, finishedSeconds }: ObservedCall): LearntAgent {
    this.programs += 1;
    this.seconds.add(finishedSeconds - arrivedSeconds);
    const agent = this.seen(name);
    agent.calls += 1;
    agent.programs += 1;
    agent.depth.add(0);
    agent.begins += 1;
    agent.ends += 1;
    return agent;
  }

  view(): ApplicationView {
    return {
      name: this.name,
      programs: this.programs,
      lastSeenSeconds: this.lastSeenSeconds,
      meanSeconds: this.seconds.value ?? 0,
      nodes: Array.from(this.agents.values(), (agent) => agent.node()).filter(({ calls }) => calls > 0),
      edges: Array.from(this.edges.values(), (edge) => this.edgeView(edge)),
    };
  }

  keep(nowSeconds: number): KeptApplication {
    return {
      name: this.name,
      programs: this.programs,
      lastSeenAgeSeconds: nowSeconds - this.lastSeenSeconds,
      seconds: this.seconds.keep(),
      quietSeconds: this.quietSeconds,
      agents: Array.from(this.agents.values(), (agent) => agent.keep()),
      edges: Array.from(this.edges.values(), (edge) => ({ ...edge })),
    };
  }

  private learnNodes({ calls, parents, depth }: CallGraph): void {
    const met = new Set<string>();
    const begun = new Set<string>();
    let last = calls[0];
    for (const [at, call] of calls.entries()) {
      const agent = this.seen(call.agent);
      agent.calls += 1;
      if (!met.has(call.agent)) {
        met.add(call.agent);
        agent.programs += 1;
        agent.depth.add(depth[at] ?? 0);
      }
      if (parents[at]?.length === 0 && !begun.has(call.agent)) {
        begun.add(call.agent);
        agent.begins += 1;
      }
      if (last === undefined || call.finishedSeconds >= last.finishedSeconds) last = call;
    }
    const ending = last === undefined ? undefined : this.agents.get(last.agent);
    if (ending !== undefined) ending.ends += 1;
  }

  private learnEdges(graph: CallGraph): void {
    const { calls, parents, steps } = graph;
    const leadsBack = backwards(graph);
    const taken = new Set<string>();
    for (const [from, own] of steps.entries()) {
      for (const step of own) {
        for (const to of step) {
          const edge = this.edge(calls[from]?.agent ?? "", calls[to]?.agent ?? "");
          if (edge === undefined) continue;
          edge.calls += 1;
          if (step.length > 1) edge.parallel += 1;
          if ((parents[to]?.length ?? 0) > 1) edge.joins += 1;
          if (leadsBack(from, to)) edge.loops += 1;
          const key = edgeKey(edge.from, edge.to);
          if (!taken.has(key)) edge.programs += 1;
          taken.add(key);
        }
      }
    }
  }

  /** The edge, marked as just seen; undefined where one of its agents had to be evicted. */
  private edge(from: string, to: string): KeptEdge | undefined {
    if (!this.agents.has(from) || !this.agents.has(to)) return undefined;
    const key = edgeKey(from, to);
    const edge = this.edges.get(key) ?? { from, to, calls: 0, programs: 0, parallel: 0, joins: 0, loops: 0 };
    this.edges.put(key, edge);
    return edge;
  }

  private edgeView({ from, to, loops, ...counts }: KeptEdge): CallGraphEdge {
    const key = (agent: string): string => this.agents.get(agent)?.key ?? agent;
    return { from: key(from), to: key(to), ...counts, loop: 2 * loops > counts.calls };
  }
}

/** A unique key of a pair of names. */
const edgeKey = (from: string, to: string): string => `${from.length}:${from}${to}`;

/** Whether an edge leads back: the later call's agent is on its own path already and was first called no later than the earlier call's. */
function backwards({ calls, parents }: CallGraph): (from: number, to: number) => boolean {
  const first = new Map<string, number>();
  for (const { agent } of calls) if (!first.has(agent)) first.set(agent, first.size);
  const agentOf = Int32Array.from(calls, ({ agent }) => first.get(agent) ?? 0);
  // Agents on the paths to each call, one bit each.
  const words = Math.ceil(first.size / 32);
  const before = new Uint32Array(calls.length * words);
  for (const [at, own] of parents.entries()) {
    for (const parent of own) {
      for (let word = 0; word < words; word += 1)
        before[at * words + word] = (before[at * words + word] ?? 0) | (before[parent * words + word] ?? 0);
      const agent = agentOf[parent] ?? 0;
      const word = at * words + (agent >> 5);
      before[word] = (before[word] ?? 0) | (1 << (agent & 31));
    }
  }
  return (from, to) => {
    const agent = agentOf[to] ?? 0;
    const passed = ((before[to * words + (agent >> 5)] ?? 0) >>> (agent & 31)) & 1;
    return passed === 1 && agent <= (agentOf[from] ?? 0);
  };
}

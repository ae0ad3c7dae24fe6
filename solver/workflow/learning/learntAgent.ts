import { BoundedMap } from "@/solver/collections/boundedMap";
import { DecayingDistribution } from "./decayingDistribution";
import { DecayingMean } from "./decayingMean";
import type { LearnerBounds } from "./learnerBounds";
import type { ObservedCall } from "./observedCall";
import type { KeptAgent } from "./workflowSnapshot";
import type { AgentView, CallGraphNode } from "./workflowsView";

/** Statistics of an agent's requests at one model. */
interface LearntRequest {
  readonly model: string;
  readonly latency: DecayingDistribution;
}

/** Statistics of one agent of an application: its place in the graph and its latencies. */
export class LearntAgent {
  readonly key: string;
  /** Empty for calls that name no agent. */
  readonly name: string;
  /** Calls in programs that have ended. */
  calls = 0;
  programs = 0;
  begins = 0;
  ends = 0;
  readonly depth: DecayingMean;
  readonly remainingCalls: DecayingMean;
  readonly remaining: DecayingDistribution;
  private readonly seconds: DecayingMean;
  private readonly outputTokens: DecayingMean;
  private readonly request: BoundedMap<LearntRequest>;

  constructor(
    private readonly application: string,
    name: string,
    { bounds, kept }: { readonly bounds: LearnerBounds; readonly kept?: KeptAgent | undefined },
  ) {
    this.name = name;
    this.key = agentKey(application, name);
    this.depth = new DecayingMean(kept?.depth);
    this.remainingCalls = new DecayingMean(kept?.remainingCalls);
    this.remaining = new DecayingDistribution(kept?.remaining);
    this.seconds = new DecayingMean(kept?.seconds);
    this.outputTokens = new DecayingMean(kept?.outputTokens);
    this.request = new BoundedMap(bounds.modelsOfAgent);
    if (kept === undefined) return;
    this.calls = kept.calls;
    this.programs = kept.programs;
    this.begins = kept.begins;
    this.ends = kept.ends;
    for (const [model, latency] of kept.request) this.request.put(model, { model, latency: new DecayingDistribution(latency) });
  }

  /** A call of it was answered. */
  answered({ model, dispatchedSeconds, finishedSeconds, outputTokens }: ObservedCall): void {
    const latencySeconds = finishedSeconds - dispatchedSeconds;
    const request = this.request.get(model) ?? { model, latency: new DecayingDistribution() };
    this.request.put(model, request);
    request.latency.add(latencySeconds);
    this.seconds.add(latencySeconds);
    if (outputTokens !== null) this.outputTokens.add(outputTokens);
  }

  /** Latencies of its requests at a model; undefined where it had no requests there. */
  requestAt(model: string): DecayingDistribution | undefined {
    return this.request.get(model)?.latency;
  }

  node(): CallGraphNode {
    const { key, name, calls, programs, begins, ends } = this;
    return {
      key,
      name,
      calls,
      programs,
      begins,
      ends,
      depth: this.depth.value ?? 0,
      meanSeconds: this.seconds.value ?? 0,
      meanOutputTokens: this.outputTokens.value,
    };
  }

  view(distanceSeconds: number | null): AgentView {
    return {
      key: this.key,
      application: this.application,
      name: this.name,
      distanceSeconds,
      remainingCalls: this.remainingCalls.value ?? 0,
      remaining: this.remaining.view(),
      request: Array.from(this.request.values(), ({ model, latency }) => ({ model, ...latency.view() })),
    };
  }

  keep(): KeptAgent {
    const { name, calls, programs, begins, ends } = this;
    return {
      name,
      calls,
      programs,
      begins,
      ends,
      depth: this.depth.keep(),
      seconds: this.seconds.keep(),
      outputTokens: this.outputTokens.keep(),
      remainingCalls: this.remainingCalls.keep(),
      remaining: this.remaining.keep(),
      request: Array.from(this.request.values(), ({ model, latency }) => [model, latency.keep()]),
    };
  }
}

/** `application/agent`; names of applications have no slash, and calls without an agent have an empty one. */
export const agentKey = (application: string, agent: string): string => `${application}/${agent}`;

import { BoundedMap } from "@/solver/collections/boundedMap";
import { wassersteinOfQuantiles } from "@/solver/numeric/wasserstein";
import type { AgentForecast } from "./agentForecast";
import { type AgentLine, placeOnLine } from "./agentLine";
import { DecayingDistribution, type Shape } from "./decayingDistribution";
import { DecayingMean } from "./decayingMean";
import type { LearnerBounds } from "./learnerBounds";
import type { LearntAgent } from "./learntAgent";
import type { ObservedCall } from "./observedCall";
import type { WorkflowSnapshot } from "./workflowSnapshot";

/** Number of observations below which the calls that an agent has yet to make are taken from all agents: a mean has no convergence test. */
const LEAST_OBSERVED = 4;

/** Tokens a second where no count is known: those of a model of 8 B to 70 B in a full batch. */
const TOKENS_PER_SECOND = 30;

/** Maximum number of agents placed between two lines; in practice there are fewer. */
const MOST_PLACED = 65_536;

/** Key for the place of all agents together: not an agent's key, which has a slash. */
const ALL_AGENTS = "";

interface LearntModel {
  readonly model: string;
  readonly request: DecayingDistribution;
  readonly tokensPerSecond: DecayingDistribution;
}

/** Statistics of all agents together, for those whose own have not converged; the agents' line; and forecasts from both. */
export class LearntLatencies {
  private readonly remaining: DecayingDistribution;
  private readonly remainingCalls: DecayingMean;
  private readonly request: DecayingDistribution;
  private readonly models: BoundedMap<LearntModel>;
  private line: AgentLine | null = null;
  /** Distances of agents that are not part of the line. */
  private readonly placed = new BoundedMap<number>(MOST_PLACED);

  constructor(bounds: LearnerBounds, kept?: WorkflowSnapshot) {
    this.remaining = new DecayingDistribution(kept?.remaining);
    this.remainingCalls = new DecayingMean(kept?.remainingCalls);
    this.request = new DecayingDistribution(kept?.request);
    this.models = new BoundedMap(bounds.models);
    for (const { model, request, tokensPerSecond } of kept?.models ?? []) {
      const learnt = { model, request: new DecayingDistribution(request), tokensPerSecond: new DecayingDistribution(tokensPerSecond) };
      this.models.put(model, learnt);
    }
  }

  answered({ model, dispatchedSeconds, finishedSeconds, outputTokens }: ObservedCall): void {
    const known = this.models.get(model) ?? { model, request: new DecayingDistribution(), tokensPerSecond: new DecayingDistribution() };
    this.models.put(model, known);
    const latencySeconds = finishedSeconds - dispatchedSeconds;
    known.request.add(latencySeconds);
    this.request.add(latencySeconds);
    if (outputTokens !== null && outputTokens > 0 && latencySeconds > LEAST_SECONDS)
      known.tokensPerSecond.add(outputTokens / latencySeconds);
  }

  remained(remainingSeconds: number, remainingCalls: number): void {
    this.remaining.add(remainingSeconds);
    this.remainingCalls.add(remainingCalls);
  }

  takeLine(line: AgentLine): void {
    this.line = line;
    this.placed.clear();
  }

  /** Undefined where nothing is learnt yet. */
  forecast(key: string, agent: LearntAgent | undefined, model: string): AgentForecast | undefined {
    if (this.request.observed === 0) return undefined;
    const ownCalls = agent !== undefined && hasEnough(agent.remaining) ? agent.remainingCalls : this.remainingCalls;
    const pooled = this.models.get(model);
    // Memory has to be planned from the first call on: what all agents took is a guess before it has converged, and better than none.
    const all = pooled?.request ?? this.request;
    const requestSeconds = agent?.requestAt(model)?.settled?.mode ?? all.settled?.mode ?? all.mode;
    const tokensPerSecond = pooled?.tokensPerSecond.median ?? Number.NaN;
    return {
      agent: key,
      distanceSeconds: this.distanceSeconds(agent) ?? this.pooledDistanceSeconds(),
      remainingCalls: ownCalls.value ?? 1,
      requestSeconds: requestSeconds ?? 0,
      tokensPerSecond: tokensPerSecond > 0 ? tokensPerSecond : TOKENS_PER_SECOND,
    };
  }

  /**
   * Distance of an agent on the line; null until its remaining latencies have converged (Kairos, section 4.3). Without a line it is the
   * mean: the distance from zero.
   */
  distanceSeconds(agent: LearntAgent | undefined): number | null {
    const shape = agent?.remaining.settled ?? null;
    return agent === undefined || shape === null ? null : this.placedAt(agent.key, shape);
  }

  get hasLine(): boolean {
    return this.line !== null;
  }

  keep(): Pick<WorkflowSnapshot, "models" | "remaining" | "remainingCalls" | "request"> {
    return {
      models: Array.from(this.models.values(), ({ model, request, tokensPerSecond }) => ({
        model,
        request: request.keep(),
        tokensPerSecond: tokensPerSecond.keep(),
      })),
      remaining: this.remaining.keep(),
      remainingCalls: this.remainingCalls.keep(),
      request: this.request.keep(),
    };
  }

  /** 0 until the latencies of all agents together have converged. */
  private pooledDistanceSeconds(): number {
    const shape = this.remaining.settled;
    return shape === null ? 0 : this.placedAt(ALL_AGENTS, shape);
  }

  private placedAt(key: string, { quantiles }: Shape): number {
    if (this.line === null) return wassersteinOfQuantiles(quantiles, new Float64Array(quantiles.length));
    const known = this.line.distanceSeconds.get(key) ?? this.placed.get(key);
    if (known !== undefined) return known;
    const distanceSeconds = placeOnLine(this.line, quantiles);
    this.placed.put(key, distanceSeconds);
    return distanceSeconds;
  }
}

/** Lower latencies are not an engine's: they do not show its token rate. */
const LEAST_SECONDS = 1e-6;

const hasEnough = ({ observed }: DecayingDistribution): boolean => observed >= LEAST_OBSERVED;

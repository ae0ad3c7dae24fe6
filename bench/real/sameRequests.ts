import { errorBand } from "@/solver/calibration/predictServing";
import { predictionSpan } from "@/solver/cascade/deploy/predictionBand";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { noUserCards } from "@/solver/hardware/catalogue";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { percentileErrors } from "@/solver/hardware/measuredProfile";
import { atPace } from "./enginePace";
import { figuresOf, type RunFigures, WARM_UP_SHARE } from "./figures";
import { replicaOf } from "./predictions";
import { atMeanRate, type Lengths, type Traffic } from "./traffic";

/** What decides the requests of a run. */
export interface SentRun {
  readonly traffic: Traffic;
  /** Of the measured saturation. */
  readonly share: number;
  readonly requestsPerSecond: number;
  /** Number of requests. */
  readonly sent: number;
}

/** Requests of a run, in the order of their arrivals. */
export interface SentRequests {
  /** Arrivals before they are scaled to the rate. */
  readonly unscaled: Float64Array;
  readonly atSeconds: Float64Array;
  readonly lengths: readonly Lengths[];
}

/** Every share has its own arrivals and lengths; a repeat has those of the first. */
export const seedOf = (share: number): number => 1000 * share;

export function requestsOf({ traffic, share, requestsPerSecond, sent }: SentRun): SentRequests {
  const seed = seedOf(share);
  const unscaled = traffic.arrivals(sent, seed);
  return { unscaled, atSeconds: atMeanRate(unscaled, requestsPerSecond), lengths: traffic.drawn(sent, seed) };
}

/** A profile whose engines take `pace` times as long. */
const profileAt = (profile: EngineProfile, pace: number): EngineProfile =>
  isMeasured(profile) ? { ...profile, engines: profile.engines.map((engine) => atPace(engine, pace)) } : profile;

/** Figures of a run's own requests, with the band of the p95 by the profile's error alone: no request is left to chance. */
export interface SamePrediction extends RunFigures {
  readonly p95Low: number;
  readonly p95High: number;
}

/**
 * Simulates the very requests of a run at the moments at which they are due, under a profile. What differs from the measured
 * figures is the model's error and the machine's noise, without the chance of which requests a short run has.
 */
export function sameRequests(run: SentRun, profile: EngineProfile, model: string): SamePrediction {
  const requests = requestsOf(run);
  const at = (own: number): RunFigures => simulated(requests, profileAt(profile, own), model);
  const figures = at(1);
  const errors = profile.errors?.endToEnd ?? null;
  const { low, high } = errors === null ? { low: 1, high: 1 } : errorBand(1, errors, false);
  const band = predictionSpan(
    { seconds: figures.p95, spreadSeconds: 0 },
    (isMeasured(profile) ? percentileErrors(profile) : null) ?? errors,
    false,
    { slower: at(high).p95, faster: at(low).p95 },
  );
  return { ...figures, p95Low: band.low, p95High: band.high };
}

function simulated({ atSeconds, lengths }: SentRequests, profile: EngineProfile, model: string): RunFigures {
  const inputTokens = lengths.map((one) => one.inputTokens);
  const outputTokens = lengths.map((one) => one.outputTokens);
  const cards = (isMeasured(profile) ? profile.cards : undefined) ?? noUserCards;
  const replica = replicaOf({ profile, cards }, model);
  const outcome = simulateReplica(replica, { arrivalSeconds: atSeconds, inputTokens, outputTokens });
  const from = Math.floor(WARM_UP_SHARE * lengths.length);
  return figuresOf({
    endToEndSeconds: outcome.endToEndSeconds.subarray(from),
    ttftSeconds: outcome.ttftSeconds.subarray(from),
    outputTokens: outputTokens.slice(from),
  });
}

import { BAND_CONFIDENCE, errorBand } from "@/solver/calibration/predictServing";
import type { EngineProfile, MetricErrors } from "@/solver/hardware/engineProfile";
import { type MeasuredProfile, percentileErrors } from "@/solver/hardware/measuredProfile";
import { mean } from "@/solver/numeric/quantile";
import type { Band } from "@/solver/plan/plan";

/** Number of time blocks into which simulated requests are divided to estimate the variance of a figure. */
const BLOCKS = 10;

/** Student's t for a two-sided 90 % band over `BLOCKS` blocks. */
const BLOCKS_T = 1.833;

/** A figure of simulated requests. */
export interface Statistic {
  readonly seconds: number;
  /** Half width of its 90 % band over blocks of the traffic; null with fewer requests than blocks. */
  readonly spreadSeconds: number | null;
}

/**
 * Requests of a measurement that is held against a figure: those of Live's longest measuring window at the plan's rate, but no more than it
 * counts.
 */
export const measuredRequests = (requestsPerSecond: number, measuredSeconds = LIVE_SECONDS): number =>
  Math.max(1, Math.min(LIVE_REQUESTS, Math.round(requestsPerSecond * measuredSeconds)));

const LIVE_SECONDS = 300;
const LIVE_REQUESTS = 5000;

/**
 * A latency figure, from latencies in the order of their requests, with its variation over consecutive blocks of them.
 *
 * @param measured requests of the measurement that it is compared with: fewer of them vary more. Left out: as many as never vary.
 */
export function statistic(
  latencies: Float64Array,
  figure: (latencies: Float64Array) => number,
  measured = Number.POSITIVE_INFINITY,
): Statistic {
  const size = Math.floor(latencies.length / BLOCKS);
  if (size === 0) return { seconds: figure(latencies), spreadSeconds: null };
  const blocks = Float64Array.from({ length: BLOCKS }, (_, block) => figure(latencies.subarray(block * size, (block + 1) * size)));
  const centre = mean(blocks);
  const variance = blocks.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (BLOCKS - 1);
  return { seconds: figure(latencies), spreadSeconds: BLOCKS_T * Math.sqrt(variance * (1 / BLOCKS + size / measured)) };
}

/** A figure if the engines were slower, and if they were faster, by the error of their profile. */
export interface Paced {
  readonly slower: number;
  readonly faster: number;
}

/**
 * The interval that should contain nine of ten measured values of a simulated figure. It combines the variation of the traffic and the
 * error of the engine profile on runs its fit had not seen. The two causes are independent, so that their deviations add in squares,
 * separately for the upper and the lower end. Only the traffic's band where no profile error is known. Ends are 0 or more.
 *
 * @param paced the figure simulated with slower and with faster engines, which has the profile's error multiplied by queues; left out: the
 * error alone.
 */
export function predictionSpan(
  { seconds, spreadSeconds }: Statistic,
  errors: MetricErrors | null,
  extrapolated: boolean,
  paced: Paced | null = null,
): Pick<Band, "low" | "high"> {
  const spread = spreadSeconds ?? 0;
  const { low, high } = errors === null || errors.rows === 0 ? { low: seconds, high: seconds } : errorBand(seconds, errors, extrapolated);
  const [below, above] = [seconds - Math.min(low, paced?.faster ?? low), Math.max(high, paced?.slower ?? high) - seconds];
  return { low: Math.max(0, seconds - Math.hypot(spread, below)), high: seconds + Math.hypot(spread, above) };
}

/** What the band of a percentile is for, and what speaks against it. */
export interface BandOf {
  readonly extrapolated: boolean;
  readonly nearSaturation: boolean;
  readonly paced?: Paced | null;
  /** Requests of the measurement that it is for; left out: as many as never vary. */
  readonly measured?: number;
}

/** The band of an end-to-end percentile, with its assumptions and the reasons why it may be too narrow. */
export function predictionBand(
  figure: Statistic,
  profile: Pick<EngineProfile, "name" | "errors"> & { readonly engines?: MeasuredProfile["engines"] },
  { extrapolated, nearSaturation, paced = null, measured }: BandOf,
): Band {
  const { name, errors } = profile;
  const ofPercentiles = profile.engines === undefined ? null : percentileErrors({ engines: profile.engines });
  const used = ofPercentiles ?? errors?.endToEnd ?? null;
  const traffic = `spread of the simulated traffic over ${BLOCKS} blocks${measured === undefined ? "" : `, for a measurement of ${measured.toLocaleString("en-US")} requests`}`;
  const basis = [
    used !== null && used.rows > 0
      ? `${traffic} and, added in squares, the error of the engine profile "${name}" (within ${Math.round(100 * used.p90Absolute)} % end to end on nine of ten of ${used.rows} measured runs its fit had not seen)${paced === null ? "" : ", simulated as slower and as faster engines"}`
      : `${traffic} alone, so it is too narrow: no error of the engine profile "${name}" is known`,
    ofPercentiles === null ? "public measurements hold means only, so no percentile is validated" : "the error is that of its percentiles",
    ...(extrapolated ? ["extrapolated, so the profile's error is doubled"] : []),
    ...(nearSaturation ? ["a stage near saturation multiplies the error, so it may be too narrow"] : []),
  ].join("; ");
  return { ...predictionSpan(figure, used, extrapolated, paced), confidence: BAND_CONFIDENCE, basis };
}

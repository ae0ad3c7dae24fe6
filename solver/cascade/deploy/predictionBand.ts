import { BAND_CONFIDENCE, errorBand } from "@/solver/calibration/predictServing";
import type { EngineProfile, MetricErrors } from "@/solver/hardware/engineProfile";
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

/** A latency figure, from latencies in the order of their requests, with its variation over consecutive blocks of them. */
export function statistic(latencies: Float64Array, figure: (latencies: Float64Array) => number): Statistic {
  const size = Math.floor(latencies.length / BLOCKS);
  if (size === 0) return { seconds: figure(latencies), spreadSeconds: null };
  const blocks = Float64Array.from({ length: BLOCKS }, (_, block) => figure(latencies.subarray(block * size, (block + 1) * size)));
  const centre = mean(blocks);
  const variance = blocks.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (BLOCKS - 1);
  return { seconds: figure(latencies), spreadSeconds: BLOCKS_T * Math.sqrt(variance / BLOCKS) };
}

/**
 * The interval that should contain nine of ten measured values of a simulated figure. It combines the variation of the traffic and the
 * error of the engine profile on runs its fit had not seen. The two causes are independent, so that their deviations add in squares,
 * separately for the upper and the lower end. Only the traffic's band where no profile error is known. Ends are 0 or more.
 */
export function predictionSpan(
  { seconds, spreadSeconds }: Statistic,
  errors: MetricErrors | null,
  extrapolated: boolean,
): Pick<Band, "low" | "high"> {
  const spread = spreadSeconds ?? 0;
  const { low, high } = errors === null || errors.rows === 0 ? { low: seconds, high: seconds } : errorBand(seconds, errors, extrapolated);
  return { low: Math.max(0, seconds - Math.hypot(spread, seconds - low)), high: seconds + Math.hypot(spread, high - seconds) };
}

/** The band of an end-to-end percentile, with its assumptions and the reasons why it may be too narrow. */
export function predictionBand(
  figure: Statistic,
  { name, errors }: Pick<EngineProfile, "name" | "errors">,
  doubts: { readonly extrapolated: boolean; readonly nearSaturation: boolean },
): Band {
  const known = errors !== null && errors.endToEnd.rows > 0;
  const basis = [
    known
      ? `spread of the simulated traffic over ${BLOCKS} blocks and, added in squares, the error of the engine profile "${name}" (within ${Math.round(100 * errors.endToEnd.p90Absolute)} % end to end on nine of ten of ${errors.endToEnd.rows} measured runs its fit had not seen)`
      : `spread of the simulated traffic over ${BLOCKS} blocks alone, so it is too narrow: no error of the engine profile "${name}" is known`,
    "public measurements hold means only, so no percentile is validated",
    ...(doubts.extrapolated ? ["extrapolated, so the profile's error is doubled"] : []),
    ...(doubts.nearSaturation ? ["a stage near saturation multiplies the error, so it may be too narrow"] : []),
  ].join("; ");
  return { ...predictionSpan(figure, errors?.endToEnd ?? null, doubts.extrapolated), confidence: BAND_CONFIDENCE, basis };
}

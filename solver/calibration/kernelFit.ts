import type { GpuCard } from "../hardware/gpus";
import type {
  AllReduceCoefficients,
  DecodeAttentionCoefficients,
  GemmCoefficients,
  PrefillAttentionCoefficients,
} from "../hardware/kernelCoefficients";
import {
  allReduceSeconds,
  decodeAttentionTerms,
  expertsSeconds,
  gemmSeconds,
  type KernelRates,
  prefillAttentionTerms,
} from "../hardware/kernels";
import { leastSquares, robust } from "../numeric/leastSquares";
import { mean, quantile } from "../numeric/quantile";

/** One measured time of an operator, and the model's time for it under given coefficients. */
interface Observation<Coefficients> {
  readonly seconds: number;
  predict(coefficients: Coefficients): number;
}

/** Coefficients of one operator fitted to measured times, with the relative errors left. */
export interface KernelFit<Coefficients> {
  readonly coefficients: Coefficients;
  readonly observations: number;
  readonly medianAbsoluteError: number;
  readonly meanAbsoluteError: number;
}

export interface GemmTime {
  readonly rows: number;
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly seconds: number;
}

/** A layer's routed experts, gate and up and down, as one measured time. */
export interface ExpertsTime {
  readonly rows: number;
  readonly hidden: number;
  readonly ffn: number;
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly seconds: number;
}

export interface AttentionTime {
  readonly sequences: number;
  /** Prompt tokens of each sequence, or tokens that each decoding sequence reads. */
  readonly tokens: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly kvBytesPerValue: number;
  readonly seconds: number;
}

export interface AllReduceTime {
  readonly gpus: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Beyond this relative error an observation has the influence of its square root only. */
const ROBUST_SCALE = 0.3;

/** Approximate maximum number of observations in a fit, evenly spread over the table; errors are over all. */
const FITTED_OBSERVATIONS = 4000;

/** Seconds of a measured decode attention under given coefficients. */
export function decodeAttentionTime(coefficients: DecodeAttentionCoefficients, gpu: GpuCard, time: Omit<AttentionTime, "seconds">): number {
  const { sequences, tokens, heads, kvHeads, headDim, kvBytesPerValue } = time;
  const terms = decodeAttentionTerms(coefficients, gpu.memoryBytesPerSecond, heads);
  const kvBytes = sequences * tokens * 2 * kvHeads * headDim * kvBytesPerValue;
  return terms.launchSeconds + sequences * terms.secondsPerSequence + kvBytes * terms.secondsPerKvByte;
}

/** Seconds of a measured prefill attention under given coefficients. */
export function prefillAttentionTime(
  coefficients: PrefillAttentionCoefficients,
  gpu: GpuCard,
  time: Omit<AttentionTime, "seconds">,
): number {
  const { sequences, tokens, heads, kvHeads, headDim } = time;
  const rates = { memoryBytesPerSecond: gpu.memoryBytesPerSecond, flopsBf16: gpu.denseFlopsBf16 };
  const terms = prefillAttentionTerms(coefficients, rates, { width: heads * headDim, kvWidth: kvHeads * headDim });
  const pairs = (sequences * tokens * (tokens + 1)) / 2;
  return terms.launchSeconds + sequences * tokens * terms.secondsPerToken + pairs * terms.secondsPerPair;
}

/** Fits `gemmSeconds` to a table of measured GEMMs. */
export function fitGemm(times: readonly GemmTime[], rates: KernelRates): KernelFit<GemmCoefficients> {
  return fit(
    times.map(({ rows, inFeatures, outFeatures, seconds }) => ({
      seconds,
      predict: (coefficients: GemmCoefficients) => gemmSeconds(coefficients, rates, { inFeatures, outFeatures })(rows),
    })),
    GEMM_START,
    gemmOf,
  );
}

/** Fits `expertsSeconds`, twice a layer, to a table of measured expert layers. */
export function fitExperts(times: readonly ExpertsTime[], rates: KernelRates): KernelFit<GemmCoefficients> {
  return fit(
    times.map(({ rows, hidden, ffn, experts, expertsPerToken, seconds }) => ({
      seconds,
      predict: (coefficients: GemmCoefficients) =>
        expertsSeconds(coefficients, rates, { inFeatures: hidden, outFeatures: 2 * ffn }, { experts, expertsPerToken })(rows) +
        expertsSeconds(coefficients, rates, { inFeatures: ffn, outFeatures: hidden }, { experts, expertsPerToken })(rows),
    })),
    GEMM_START,
    gemmOf,
  );
}

/** Fits decode attention to a table of measured times. */
export function fitDecodeAttention(times: readonly AttentionTime[], gpu: GpuCard): KernelFit<DecodeAttentionCoefficients> {
  return fit(
    times.map((time) => ({ seconds: time.seconds, predict: (coefficients) => decodeAttentionTime(coefficients, gpu, time) })),
    [Math.log(1e-5), shareLogit(0.7), Math.log(2e-9)],
    ([launch = 0, read = 0, head = 0]) => ({
      launchSeconds: Math.exp(launch),
      kvRead: share(read),
      secondsPerSequenceHead: Math.exp(head),
    }),
  );
}

/** Fits prefill attention to a table of measured times. */
export function fitPrefillAttention(times: readonly AttentionTime[], gpu: GpuCard): KernelFit<PrefillAttentionCoefficients> {
  return fit(
    times.map((time) => ({ seconds: time.seconds, predict: (coefficients) => prefillAttentionTime(coefficients, gpu, time) })),
    [Math.log(1e-5), shareLogit(0.6), shareLogit(0.4)],
    ([launch = 0, compute = 0, activation = 0]) => ({
      launchSeconds: Math.exp(launch),
      compute: share(compute),
      activation: share(activation),
    }),
  );
}

/** Fits `allReduceSeconds` to the all-reduces measured among one number of GPUs. */
export function fitAllReduce(times: readonly AllReduceTime[], gpu: GpuCard): KernelFit<AllReduceCoefficients> {
  return fit(
    times.map(({ gpus, bytes, seconds }) => ({
      seconds,
      predict: (coefficients: AllReduceCoefficients) => allReduceSeconds(coefficients, gpu.linkBytesPerSecond, gpus, bytes),
    })),
    [Math.log(5e-6), shareLogit(0.6)],
    ([latency = 0, link = 0]) => ({ latencySeconds: Math.exp(latency), link: share(link) }),
  );
}

/** Shares are fitted on an unbounded scale, so that none exceeds 1. */
const share = (logit: number): number => 1 / (1 + Math.exp(-logit));
const shareLogit = (value: number): number => Math.log(value / (1 - value));

const GEMM_START = [Math.log(5e-6), shareLogit(0.75), shareLogit(0.6), shareLogit(0.7), 0];

const gemmOf = ([launch = 0, weight = 0, activation = 0, compute = 0, sharpness = 0]: readonly number[]): GemmCoefficients => ({
  launchSeconds: Math.exp(launch),
  weightRead: share(weight),
  activation: share(activation),
  compute: share(compute),
  sharpness: 1 + Math.exp(sharpness),
});

function fit<Coefficients>(
  observations: readonly Observation<Coefficients>[],
  start: readonly number[],
  coefficientsOf: (parameters: readonly number[]) => Coefficients,
): KernelFit<Coefficients> {
  const stride = Math.max(1, Math.floor(observations.length / FITTED_OBSERVATIONS));
  const seen = observations.filter((_, index) => index % stride === 0);
  const { parameters } = leastSquares((tried) => {
    const coefficients = coefficientsOf(tried);
    return Float64Array.from(seen, ({ seconds, predict }) => robust(Math.log(predict(coefficients) / seconds), ROBUST_SCALE));
  }, start);
  const coefficients = coefficientsOf(parameters);
  const errors = Float64Array.from(observations, ({ seconds, predict }) => Math.abs(predict(coefficients) / seconds - 1));
  return {
    coefficients,
    observations: observations.length,
    medianAbsoluteError: quantile(errors, 0.5),
    meanAbsoluteError: mean(errors),
  };
}

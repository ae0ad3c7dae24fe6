import type { GpuCard } from "../hardware/gpus";
import {
  type AllReduceCoefficients,
  allReduceSeconds,
  type DecodeAttentionCoefficients,
  decodeAttentionSeconds,
  expertsSeconds,
  type GemmCoefficients,
  gemmSeconds,
  type KernelRates,
  type PrefillAttentionCoefficients,
  prefillAttentionSeconds,
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
  /** Prompt tokens of each sequence, or tokens each decoding sequence reads. */
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

/** Beyond this relative error an observation pulls with its square root only. */
const ROBUST_SCALE = 0.3;

/** A fit sees at most about this many observations, evenly spread over the table; errors are over all. */
const FITTED_OBSERVATIONS = 4000;

/** Dense peak, memory bandwidth and weight bytes for GEMMs of one precision. */
export function kernelRates(gpu: GpuCard, precision: "bf16" | "fp8"): KernelRates {
  const fp8 = precision === "fp8";
  return {
    memoryBytesPerSecond: gpu.memoryBytesPerSecond,
    flops: fp8 ? (gpu.denseFlopsFp8 ?? gpu.denseFlopsBf16) : gpu.denseFlopsBf16,
    bytesPerWeight: fp8 ? 1 : 2,
    bytesPerInput: fp8 && gpu.denseFlopsFp8 !== null ? 4 : 2,
  };
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

/** Fits `decodeAttentionSeconds` to a table of measured decode attention. */
export function fitDecodeAttention(times: readonly AttentionTime[], gpu: GpuCard): KernelFit<DecodeAttentionCoefficients> {
  return fit(
    times.map(({ sequences, tokens, heads, kvHeads, headDim, kvBytesPerValue, seconds }) => {
      const kvBytes = sequences * tokens * 2 * kvHeads * headDim * kvBytesPerValue;
      return {
        seconds,
        predict: (coefficients: DecodeAttentionCoefficients) =>
          decodeAttentionSeconds(coefficients, gpu.memoryBytesPerSecond, { sequences, heads, kvBytes }),
      };
    }),
    [Math.log(1e-5), shareLogit(0.7), Math.log(2e-9)],
    ([launch = 0, read = 0, head = 0]) => ({
      launchSeconds: Math.exp(launch),
      kvRead: share(read),
      secondsPerSequenceHead: Math.exp(head),
    }),
  );
}

/** Fits `prefillAttentionSeconds` to a table of measured prompts. */
export function fitPrefillAttention(times: readonly AttentionTime[], gpu: GpuCard): KernelFit<PrefillAttentionCoefficients> {
  const rates = { memoryBytesPerSecond: gpu.memoryBytesPerSecond, flopsBf16: gpu.denseFlopsBf16 };
  return fit(
    times.map(({ sequences, tokens, heads, kvHeads, headDim, seconds }) => {
      const load = {
        tokens: sequences * tokens,
        pairs: (sequences * tokens * (tokens + 1)) / 2,
        width: heads * headDim,
        kvWidth: kvHeads * headDim,
      };
      return { seconds, predict: (coefficients: PrefillAttentionCoefficients) => prefillAttentionSeconds(coefficients, rates, load) };
    }),
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

/** Shares are fitted on an unbounded scale, so that none can exceed 1. */
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

import type {
  AllReduceCoefficients,
  DecodeAttentionCoefficients,
  GemmCoefficients,
  PrefillAttentionCoefficients,
} from "./kernelCoefficients";

/** The maximum memory and tensor-core rates of a GPU, for one precision of weights. */
export interface KernelRates {
  readonly memoryBytesPerSecond: number;
  readonly flops: number;
  readonly bytesPerWeight: number;
  /** Bytes moved per input activation: 2 in bf16; 4 where it is read in bf16, and written and read again in fp8. */
  readonly bytesPerInput: number;
}

/** A weight matrix, or the part of it on one GPU. */
export interface MatrixShape {
  readonly inFeatures: number;
  readonly outFeatures: number;
}

const BYTES_PER_OUTPUT = 2;

/** Seconds of an operator for a number of tokens. */
export type SecondsByRows = (rows: number) => number;

/** One matrix: `launch + activations / bandwidth + ((weights / bandwidth)^p + (2 rows in out / FLOPS)^p)^(1/p)`. */
export function gemmSeconds(
  { launchSeconds, weightRead, activation, compute, sharpness }: GemmCoefficients,
  { memoryBytesPerSecond, flops, bytesPerWeight, bytesPerInput }: KernelRates,
  { inFeatures, outFeatures }: MatrixShape,
): SecondsByRows {
  const weights = (inFeatures * outFeatures * bytesPerWeight) / (memoryBytesPerSecond * weightRead);
  const computing = (2 * inFeatures * outFeatures) / (flops * compute);
  const moving = (inFeatures * bytesPerInput + outFeatures * BYTES_PER_OUTPUT) / (memoryBytesPerSecond * activation);
  return (rows) => launchSeconds + rows * moving + smoothMax(weights, rows * computing, sharpness);
}

/** Expected number of experts that at least one of `rows` tokens is sent to, each token choosing `perToken` of them evenly. */
const expertsTouched = (experts: number, perToken: number, rows: number): number => experts * (1 - (1 - perToken / experts) ** rows);

/**
 * One grouped GEMM over the experts of a layer, as `gemmSeconds`, where only the weights of experts touched are read and every token
 * passes the matrices of `expertsPerToken` experts.
 */
export function expertsSeconds(
  coefficients: GemmCoefficients,
  rates: KernelRates,
  shape: MatrixShape,
  { experts, expertsPerToken }: { readonly experts: number; readonly expertsPerToken: number },
): SecondsByRows {
  const { launchSeconds, weightRead, activation, compute, sharpness } = coefficients;
  const { memoryBytesPerSecond, flops, bytesPerWeight, bytesPerInput } = rates;
  const { inFeatures, outFeatures } = shape;
  const weightsOfOne = (inFeatures * outFeatures * bytesPerWeight) / (memoryBytesPerSecond * weightRead);
  const computing = (2 * expertsPerToken * inFeatures * outFeatures) / (flops * compute);
  const moving = (expertsPerToken * (inFeatures * bytesPerInput + outFeatures * BYTES_PER_OUTPUT)) / (memoryBytesPerSecond * activation);
  return (rows) =>
    launchSeconds + rows * moving + smoothMax(expertsTouched(experts, expertsPerToken, rows) * weightsOfOne, rows * computing, sharpness);
}

/** The decode attention of one layer as a linear function of its load. */
export interface DecodeAttentionTerms {
  readonly launchSeconds: number;
  readonly secondsPerSequence: number;
  readonly secondsPerKvByte: number;
}

/** Attention of one layer for decoding sequences with `heads` query heads each. */
export const decodeAttentionTerms = (
  { launchSeconds, kvRead, secondsPerSequenceHead }: DecodeAttentionCoefficients,
  memoryBytesPerSecond: number,
  heads: number,
): DecodeAttentionTerms => ({
  launchSeconds,
  secondsPerSequence: secondsPerSequenceHead * heads,
  secondsPerKvByte: 1 / (memoryBytesPerSecond * kvRead),
});

/** The attention of one layer to a prompt as a linear function of its load. */
export interface PrefillAttentionTerms {
  readonly launchSeconds: number;
  readonly secondsPerToken: number;
  readonly secondsPerPair: number;
}

/** Attention of one layer to a prompt; `width` is heads times head dimension, `kvWidth` the same of the KV heads. */
export const prefillAttentionTerms = (
  { launchSeconds, compute, activation }: PrefillAttentionCoefficients,
  { memoryBytesPerSecond, flopsBf16 }: { readonly memoryBytesPerSecond: number; readonly flopsBf16: number },
  { width, kvWidth }: { readonly width: number; readonly kvWidth: number },
): PrefillAttentionTerms => ({
  launchSeconds,
  secondsPerToken: (2 * (width + kvWidth) * BYTES_PER_OUTPUT) / (memoryBytesPerSecond * activation),
  secondsPerPair: (4 * width) / (flopsBf16 * compute),
});

/** All-reduce of `bytes` among `gpus` GPUs: ring volume 2 (gpus - 1) / gpus. */
export const allReduceSeconds = (
  { latencySeconds, link }: AllReduceCoefficients,
  linkBytesPerSecond: number,
  gpus: number,
  bytes: number,
): number => latencySeconds + (((2 * (gpus - 1)) / gpus) * bytes) / (linkBytesPerSecond * link);

/** `(a^p + b^p)^(1/p)`, scaled by the larger so that small times do not underflow. */
function smoothMax(a: number, b: number, exponent: number): number {
  const larger = Math.max(a, b);
  const ratio = Math.min(a, b) / larger;
  return larger === 0 ? 0 : larger * (1 + ratio ** exponent) ** (1 / exponent);
}

import type { AllReduceCoefficients, DecodeAttentionCoefficients, GemmCoefficients, PrefillAttentionCoefficients } from "./kernels";

/** GPUs with measured kernel tables. */
export type MeasuredGpu = "a100-sxm-80g" | "h100-sxm" | "h200-sxm" | "b200-sxm" | "l40s";

/** Coefficients with the median absolute relative error they leave on the table they were fitted to. */
type Fitted<Coefficients> = Coefficients & { readonly medianError: number };

/** By precision of the weights, or of the cache; fp8 is null where the GPU's tables have none. */
interface ByPrecision<Coefficients> {
  readonly bf16: Fitted<Coefficients>;
  readonly fp8: Fitted<Coefficients> | null;
}

/** What the kernels of one GPU reach. */
export interface KernelCoefficients {
  readonly gemm: ByPrecision<GemmCoefficients>;
  /** Routed experts of a mixture, tokens spread over them by a mild power law. */
  readonly experts: ByPrecision<GemmCoefficients>;
  readonly decodeAttention: ByPrecision<DecodeAttentionCoefficients>;
  readonly prefillAttention: ByPrecision<PrefillAttentionCoefficients>;
  /** In a CUDA graph, by GPUs of the group. */
  readonly allReduce: {
    readonly 2: Fitted<AllReduceCoefficients>;
    readonly 4: Fitted<AllReduceCoefficients>;
    readonly 8: Fitted<AllReduceCoefficients>;
  };
}

/**
 * Fitted by `solver/calibration/kernelFit.ts` to the operator tables of ai-dynamo/aiconfigurator (commit 095f58a, Apache-2.0; vLLM 0.24.0, A100
 * on 0.14.0, all-reduce of the L40S on 0.22.0) on log errors. Attention without sliding windows; `experts` in fp8 is the blockwise
 * format, tokens by power law 1.01. Tables of blockwise fp8 GEMMs hold 80 microseconds of host time a call and are left out. Shares at their limit of 1 are written
 * as 0.99. `weir calibrate --kernels` fits them anew.
 */
export const kernelCoefficients: Readonly<Record<MeasuredGpu, KernelCoefficients>> = {
  "a100-sxm-80g": {
    gemm: {
      bf16: { launchSeconds: 4.66e-6, weightRead: 0.734, activation: 0.831, compute: 0.901, sharpness: 1.53, medianError: 0.095 },
      fp8: null,
    },
    experts: {
      // biome-ignore lint/suspicious/noApproximativeNumericConstant: a fitted share
      bf16: { launchSeconds: 2.08e-5, weightRead: 0.895, activation: 0.434, compute: 0.416, sharpness: 1.01, medianError: 0.13 },
      fp8: null,
    },
    decodeAttention: { bf16: { launchSeconds: 1.69e-5, kvRead: 0.688, secondsPerSequenceHead: 2.99e-9, medianError: 0.14 }, fp8: null },
    prefillAttention: { bf16: { launchSeconds: 1.27e-5, compute: 0.588, activation: 0.343, medianError: 0.11 }, fp8: null },
    allReduce: {
      2: { latencySeconds: 5e-6, link: 0.591, medianError: 0.027 },
      4: { latencySeconds: 5.69e-6, link: 0.589, medianError: 0.1 },
      8: { latencySeconds: 6.89e-6, link: 0.602, medianError: 0.21 },
    },
  },
  "h100-sxm": {
    gemm: {
      bf16: { launchSeconds: 3.09e-6, weightRead: 0.841, activation: 0.99, compute: 0.927, sharpness: 2.34, medianError: 0.086 },
      fp8: { launchSeconds: 6.76e-6, weightRead: 0.849, activation: 0.359, compute: 0.854, sharpness: 1.31, medianError: 0.16 },
    },
    experts: {
      bf16: { launchSeconds: 2.05e-5, weightRead: 0.99, activation: 0.356, compute: 0.759, sharpness: 1.29, medianError: 0.094 },
      fp8: { launchSeconds: 2.42e-5, weightRead: 0.99, activation: 0.491, compute: 0.383, sharpness: 1.41, medianError: 0.056 },
    },
    decodeAttention: {
      bf16: { launchSeconds: 1.19e-5, kvRead: 0.865, secondsPerSequenceHead: 2.15e-9, medianError: 0.095 },
      fp8: { launchSeconds: 1.35e-5, kvRead: 0.632, secondsPerSequenceHead: 2.29e-9, medianError: 0.15 },
    },
    prefillAttention: {
      bf16: { launchSeconds: 1.33e-5, compute: 0.625, activation: 0.358, medianError: 0.13 },
      fp8: { launchSeconds: 1.48e-5, compute: 0.593, activation: 0.28, medianError: 0.12 },
    },
    allReduce: {
      2: { latencySeconds: 4.29e-6, link: 0.582, medianError: 0.019 },
      4: { latencySeconds: 4.86e-6, link: 0.643, medianError: 0.071 },
      8: { latencySeconds: 5.51e-6, link: 0.786, medianError: 0.17 },
    },
  },
  "h200-sxm": {
    gemm: {
      bf16: { launchSeconds: 3.24e-6, weightRead: 0.801, activation: 0.99, compute: 0.882, sharpness: 2.42, medianError: 0.091 },
      fp8: { launchSeconds: 6.89e-6, weightRead: 0.812, activation: 0.243, compute: 0.99, sharpness: 1.09, medianError: 0.18 },
    },
    experts: {
      bf16: { launchSeconds: 2.13e-5, weightRead: 0.99, activation: 0.256, compute: 0.853, sharpness: 1.22, medianError: 0.099 },
      fp8: { launchSeconds: 2.37e-5, weightRead: 0.973, activation: 0.363, compute: 0.398, sharpness: 1.19, medianError: 0.057 },
    },
    decodeAttention: {
      bf16: { launchSeconds: 1.19e-5, kvRead: 0.809, secondsPerSequenceHead: 2.22e-9, medianError: 0.11 },
      fp8: { launchSeconds: 1.33e-5, kvRead: 0.47, secondsPerSequenceHead: 2.3e-9, medianError: 0.15 },
    },
    prefillAttention: {
      bf16: { launchSeconds: 1.32e-5, compute: 0.611, activation: 0.265, medianError: 0.14 },
      fp8: { launchSeconds: 1.46e-5, compute: 0.583, activation: 0.201, medianError: 0.11 },
    },
    allReduce: {
      2: { latencySeconds: 4.46e-6, link: 0.6, medianError: 0.025 },
      4: { latencySeconds: 4.83e-6, link: 0.665, medianError: 0.077 },
      8: { latencySeconds: 5.43e-6, link: 0.834, medianError: 0.13 },
    },
  },
  "b200-sxm": {
    gemm: {
      bf16: { launchSeconds: 2.68e-6, weightRead: 0.769, activation: 0.99, compute: 0.806, sharpness: 1.69, medianError: 0.11 },
      fp8: { launchSeconds: 6.94e-6, weightRead: 0.732, activation: 0.204, compute: 0.99, sharpness: 2.08, medianError: 0.16 },
    },
    experts: {
      bf16: { launchSeconds: 9.64e-6, weightRead: 0.99, activation: 0.583, compute: 0.518, sharpness: 1.1, medianError: 0.13 },
      fp8: { launchSeconds: 1.71e-5, weightRead: 0.99, activation: 0.618, compute: 0.22, sharpness: 1, medianError: 0.1 },
    },
    decodeAttention: {
      bf16: { launchSeconds: 9.49e-6, kvRead: 0.908, secondsPerSequenceHead: 9.52e-10, medianError: 0.091 },
      fp8: { launchSeconds: 1.02e-5, kvRead: 0.835, secondsPerSequenceHead: 8.82e-10, medianError: 0.11 },
    },
    prefillAttention: {
      bf16: { launchSeconds: 1.18e-5, compute: 0.512, activation: 0.207, medianError: 0.2 },
      fp8: { launchSeconds: 1.18e-5, compute: 0.575, activation: 0.152, medianError: 0.22 },
    },
    allReduce: {
      2: { latencySeconds: 7.19e-6, link: 0.487, medianError: 0.092 },
      4: { latencySeconds: 7.52e-6, link: 0.563, medianError: 0.1 },
      8: { latencySeconds: 8.54e-6, link: 0.624, medianError: 0.12 },
    },
  },
  l40s: {
    gemm: {
      bf16: { launchSeconds: 2e-6, weightRead: 0.843, activation: 0.99, compute: 0.756, sharpness: 2, medianError: 0.13 },
      fp8: { launchSeconds: 6.27e-6, weightRead: 0.791, activation: 0.514, compute: 0.744, sharpness: 1.88, medianError: 0.18 },
    },
    experts: {
      bf16: { launchSeconds: 6.35e-6, weightRead: 0.922, activation: 0.607, compute: 0.862, sharpness: 1, medianError: 0.086 },
      fp8: { launchSeconds: 2.27e-6, weightRead: 0.885, activation: 0.923, compute: 0.592, sharpness: 1.41, medianError: 0.077 },
    },
    decodeAttention: {
      bf16: { launchSeconds: 9.87e-6, kvRead: 0.916, secondsPerSequenceHead: 2.03e-9, medianError: 0.19 },
      fp8: { launchSeconds: 1.05e-5, kvRead: 0.99, secondsPerSequenceHead: 1.47e-9, medianError: 0.17 },
    },
    prefillAttention: {
      bf16: { launchSeconds: 8.62e-6, compute: 0.514, activation: 0.782, medianError: 0.13 },
      fp8: { launchSeconds: 1.01e-5, compute: 0.423, activation: 0.99, medianError: 0.17 },
    },
    allReduce: {
      2: { latencySeconds: 5.32e-6, link: 0.596, medianError: 0.0095 },
      4: { latencySeconds: 1.27e-5, link: 0.119, medianError: 0.029 },
      8: { latencySeconds: 2.32e-5, link: 0.0634, medianError: 0.069 },
    },
  },
};

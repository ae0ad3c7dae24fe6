import { z } from "zod";
import table from "./tables/kernelCoefficients.json" with { type: "json" };

/** GPUs with measured kernel tables. A card of another GPU borrows the efficiencies of one of them. */
export const measuredGpus = ["a100-sxm-80g", "h100-sxm", "h200-sxm", "b200-sxm", "l40s"] as const;

export type MeasuredGpu = (typeof measuredGpus)[number];

const seconds = z.number().nonnegative();
const share = z.number().positive().max(1);

/** A dense GEMM of `rows` tokens with one weight matrix. */
const gemmSchema = z.strictObject({
  /** Time of the smallest call in a CUDA graph. */
  launchSeconds: seconds,
  /** Share of nominal memory bandwidth at which weights are read. */
  weightRead: share,
  /** Share of nominal memory bandwidth at which activations are read, quantised where weights are fp8, and written. */
  activation: share,
  /** Share of dense peak reached by large calls. */
  compute: share,
  /** Exponent of the smooth maximum of reading weights and computing: 1 adds them, infinity is the roofline's sharp corner. */
  sharpness: z.number().min(1),
});

/** Attention of decoding sequences, one query each. */
const decodeAttentionSchema = z.strictObject({
  launchSeconds: seconds,
  /** Share of nominal memory bandwidth at which keys and values are read. */
  kvRead: share,
  secondsPerSequenceHead: seconds,
});

/** Causal attention of a prompt. */
const prefillAttentionSchema = z.strictObject({
  launchSeconds: seconds,
  /** Share of dense bf16 peak. */
  compute: share,
  /** Share of nominal memory bandwidth for queries, keys, values and results. */
  activation: share,
});

/** All-reduce among the GPUs of one tensor-parallel group: latency plus ring volume over the link. */
const allReduceSchema = z.strictObject({
  latencySeconds: seconds,
  /** Share of the link's nominal rate. */
  link: share,
});

export type GemmCoefficients = Readonly<z.infer<typeof gemmSchema>>;
export type DecodeAttentionCoefficients = Readonly<z.infer<typeof decodeAttentionSchema>>;
export type PrefillAttentionCoefficients = Readonly<z.infer<typeof prefillAttentionSchema>>;
export type AllReduceCoefficients = Readonly<z.infer<typeof allReduceSchema>>;

/** The median absolute relative error of the coefficients on the table they were fitted to. */
const fitted = { medianError: z.number().nonnegative() };

const gemm = gemmSchema.extend(fitted);
const decodeAttention = decodeAttentionSchema.extend(fitted);
const prefillAttention = prefillAttentionSchema.extend(fitted);
const allReduce = allReduceSchema.extend(fitted);

/** Kernel efficiencies of one GPU, by precision of the weights or of the cache; fp8 is null where the GPU's tables have none. */
const kernelCoefficientsSchema = z.strictObject({
  gemm: z.strictObject({ bf16: gemm, fp8: gemm.nullable() }),
  /** Routed experts of a mixture, tokens spread over them by a mild power law. */
  experts: z.strictObject({ bf16: gemm, fp8: gemm.nullable() }),
  decodeAttention: z.strictObject({ bf16: decodeAttention, fp8: decodeAttention.nullable() }),
  prefillAttention: z.strictObject({ bf16: prefillAttention, fp8: prefillAttention.nullable() }),
  /** In a CUDA graph, by GPUs of the group. */
  allReduce: z.strictObject({ 2: allReduce, 4: allReduce, 8: allReduce }),
});

export type KernelCoefficients = Readonly<z.infer<typeof kernelCoefficientsSchema>>;

/**
 * `tables/kernelCoefficients.json`: fitted by `solver/calibration/kernelFit.ts` to the operator tables of ai-dynamo/aiconfigurator (commit
 * 095f58a, Apache-2.0; vLLM 0.24.0, A100 on 0.14.0, all-reduce of the L40S on 0.22.0) on log errors. Attention without sliding windows;
 * `experts` in fp8 is the blockwise format, tokens by power law 1.01. Tables of blockwise fp8 GEMMs hold 80 microseconds of host time a
 * call and are left out. Shares at their limit of 1 are written as 0.99. `weir calibrate --kernels` refits them.
 */
export const kernelCoefficients: Readonly<Record<MeasuredGpu, KernelCoefficients>> = z
  .record(z.enum(measuredGpus), kernelCoefficientsSchema)
  .parse(table);

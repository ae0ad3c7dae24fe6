import type { Provenance } from "@/solver/engine/replicaModel";

/** GPUs with measured kernel tables. */
export type MeasuredGpu = "a100-sxm-80g" | "h100-sxm" | "h200-sxm" | "b200-sxm" | "l40s";

/** Share of a nominal rate that a kernel reaches, 0..1. */
export interface KernelEfficiencies {
  /**
   * bf16 GEMM of 64 rows or fewer against nominal memory bandwidth. Serves fp8 weights too: the tables' fp8 median (0.53 on the
   * H200) lies far below what fp8 servers reach; a factor on it, fitted to their measured times, came out at 1.40 = 0.75.
   */
  readonly weightRead: number;
  /** GEMM of 512 rows or more against dense peak, per weight precision. */
  readonly compute: { readonly bf16: number; readonly fp8: number };
  /** Decode attention against nominal bandwidth, at 8 or more sequences and 65,536 or more cached tokens. */
  readonly kvRead: number;
  /** Prefill attention (causal pairs) against dense bf16 peak, at 4096 tokens. */
  readonly prefillAttention: number;
  /** All-reduce of 8.4 million bf16 elements against the link's rate, by tensor parallelism. */
  readonly allReduce: readonly [tp2: number, tp4: number, tp8: number];
  /** Seconds of an all-reduce too small for the link to matter (32 KiB or less, in a CUDA graph), by tensor parallelism. */
  readonly allReduceLatencySeconds: readonly [tp2: number, tp4: number, tp8: number];
}

/**
 * Medians over shapes of the operator tables of ai-dynamo/aiconfigurator (commit 095f58a; vLLM 0.24.0, A100 on 0.14.0, L40S
 * all-reduce on 0.22.0; Apache-2.0): ideal time over measured time. Above 0.95, where a microbenchmark read from the L2
 * cache, values were clipped before the median. The A100 has no fp8 tensor cores; its fp8 weights use the bf16 figures.
 */
export const kernelEfficiencies: Readonly<Record<MeasuredGpu, KernelEfficiencies>> = {
  "a100-sxm-80g": {
    weightRead: 0.683,
    compute: { bf16: 0.879, fp8: 0.879 },
    kvRead: 0.7,
    prefillAttention: 0.514,
    allReduce: [0.462, 0.475, 0.472],
    allReduceLatencySeconds: [5.2e-6, 6.0e-6, 6.9e-6],
  },
  "h100-sxm": {
    weightRead: 0.803,
    compute: { bf16: 0.801, fp8: 0.567 },
    kvRead: 0.862,
    prefillAttention: 0.549,
    allReduce: [0.484, 0.596, 0.752],
    allReduceLatencySeconds: [4.4e-6, 4.9e-6, 5.6e-6],
  },
  "h200-sxm": {
    weightRead: 0.743,
    compute: { bf16: 0.786, fp8: 0.634 },
    kvRead: 0.826,
    prefillAttention: 0.506,
    allReduce: [0.518, 0.629, 0.801],
    allReduceLatencySeconds: [4.6e-6, 4.9e-6, 5.7e-6],
  },
  "b200-sxm": {
    weightRead: 0.701,
    compute: { bf16: 0.691, fp8: 0.463 },
    kvRead: 0.825,
    prefillAttention: 0.41,
    allReduce: [0.37, 0.461, 0.593],
    allReduceLatencySeconds: [7.0e-6, 7.4e-6, 8.2e-6],
  },
  l40s: {
    weightRead: 0.774,
    compute: { bf16: 0.609, fp8: 0.487 },
    kvRead: 0.747,
    prefillAttention: 0.502,
    allReduce: [0.591, 0.118, 0.058],
    allReduceLatencySeconds: [5.2e-6, 13.3e-6, 25.0e-6],
  },
};

/** Where the efficiencies used for a GPU come from. */
export function efficiencyProvenance(gpuId: string, measuredOn: MeasuredGpu): Provenance {
  const source = `kernel tables of ${measuredOn} (ai-dynamo/aiconfigurator@095f58a), medians over shapes`;
  return gpuId === measuredOn ? { kind: "measured", source } : { kind: "extrapolated", source: `${gpuId} has none of its own; ${source}` };
}

import type { Provenance } from "@/solver/engine/replicaModel";

/** What an engine's own work adds to every step, beside the kernels of `kernelEfficiencies.ts`. */
export interface EngineCosts {
  /** Scheduling and launching of one step. */
  readonly baseSeconds: number;
  /** Kernels that no table covers (norms, rotary, activations, floors of small attention batches), per layer. */
  readonly perLayerSeconds: number;
  /** Sampling and bookkeeping per running sequence. */
  readonly perSequenceSeconds: number;
  readonly provenance: Provenance;
}

/**
 * Least squares on log TPOT and (half weight) log TTFT of 60 measured runs of vLLM (Llama-3.1-70B fp8 on H200, tp 1 to 8, 4 to 64
 * sequences), each simulated as the closed loop it was. One model at up to 64 sequences cannot tell the three apart, so
 * the TPOT of 46 SGLang runs (Llama-3.1-8B, up to 512 sequences) joins at a quarter of the weight.
 *
 * Mean absolute error on the vLLM runs: end to end 7.1 %, TPOT 7.4 %, TTFT 22 % (always too low: what a request spends
 * outside engine steps, about 30 ms, is not modelled). Fitted on one half of the runs and tried on the other: end to end 7.4 % and
 * 8.2 %. On engine, model and GPU it never saw (TensorRT-LLM, Qwen3-32B, H100, 180 runs): end to end 10.8 %.
 * Those runs give means only: no percentile is validated by them.
 */
export const vllmCosts: EngineCosts = {
  baseSeconds: 2.77e-3,
  perLayerSeconds: 23.3e-6,
  perSequenceSeconds: 43.9e-6,
  provenance: {
    kind: "fitted",
    source:
      "60 vLLM runs (Llama-3.1-70B fp8, H200) and 46 SGLang runs (Llama-3.1-8B, H200) of ai-dynamo/aiconfigurator; mean error on the vLLM runs 7.1 % end to end, 7.4 % TPOT, 22 % TTFT",
  },
};

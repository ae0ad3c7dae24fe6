import type { Provenance } from "@/solver/engine/replicaModel";

/** What an engine's own work adds to every step, beside its kernels. */
export interface HostCosts {
  /** Scheduling, sampling and launching of one step. */
  readonly baseSeconds: number;
  /** Kernels that no table covers (norms, rotary, activations, small-batch attention floors), per layer. */
  readonly perLayerSeconds: number;
  /** Bookkeeping and sampling per running sequence. */
  readonly perSequenceSeconds: number;
  /** What one all-reduce costs in a running engine beyond its latency in a microbenchmark: ranks wait for each other. */
  readonly allReduceExtraSeconds: number;
  readonly provenance: Provenance;
}

export const vllmHostCosts: HostCosts = {
  baseSeconds: 1.5e-3,
  perLayerSeconds: 20e-6,
  perSequenceSeconds: 10e-6,
  allReduceExtraSeconds: 5e-6,
  provenance: { kind: "extrapolated", source: "order of magnitude" },
};

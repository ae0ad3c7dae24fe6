import type { LabCell, LabSpec } from "@/server/contracts/studio/lab";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { Embeddings } from "@/solver/prediction/confidence";
import type { Sketch } from "@/solver/words/sketch";
import type { AgentRun } from "@/solver/workflow/measuredPrograms";
import type { Workload } from "@/solver/workload/workload";

/** All that a run of the lab needs, as plain data: it goes to threads. */
export interface LabTask {
  readonly spec: LabSpec;
  readonly workload: Workload;
  readonly userCards: UserCards;
  readonly engineProfile: EngineProfile;
  /** Trained predictors that systems name, by hash. */
  readonly artefacts: Readonly<Record<string, Uint8Array>>;
  /**
   * Recorded runs of agents, by the SHA-256 of what was read; left out where programs are drawn. All programs are recorded runs, in place of the
   * description's mix, or a `share` of them, 0..1, beside the mix: the outcomes of these are drawn (`measuredOutcomes.ts`).
   */
  readonly recorded?: { readonly id: string; readonly runs: readonly AgentRun[]; readonly share?: number };
  /** The source of the prompts' texts: the store, or given by row of the outcome table; null if there is none. */
  readonly texts:
    | { readonly kind: "store"; readonly file: string }
    | { readonly kind: "given"; readonly texts: readonly (string | null)[] }
    | null;
  /**
   * An encoder's vectors of the prompts, by row of the outcome table: confidence and configurations are learnt on these. Left out: on the
   * prompts' words.
   */
  readonly embeddings?: Embeddings;
}

/** What predictors of a run read and are, made once for all its threads. */
export interface LabGround {
  /** By row of the outcome table; null if a prompt's text is not available. Empty if no system predicts. */
  readonly sketches: readonly (Sketch | null)[];
  /** Predictors trained for the run, encoded. */
  readonly lengths: Uint8Array | null;
  readonly confidence: Uint8Array | null;
  /** Heads that tell accurate configurations, encoded, by the workflow and the models that they are of (`labConfigurations.ts`). */
  readonly configurations: Readonly<Record<string, Uint8Array>>;
}

/** Which cell, by indices into the description. */
export type LabCellKey = Pick<LabCell, "system" | "rate" | "seed">;

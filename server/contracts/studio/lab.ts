import { z } from "zod";
import type { LabCell } from "@/solver/lab/labCell";
import { type LabSpec, type LabSystem, labSpecSchema } from "@/solver/lab/labSpec";

export type { LabCell } from "@/solver/lab/labCell";
export { type LabReplicas, type LabSpec, type LabSystem, labSpecSchema } from "@/solver/lab/labSpec";

/** `interrupted`: the studio stopped meanwhile. */
export type LabState = "running" | "done" | "cancelled" | "interrupted" | "failed";

/** A run of the lab. */
export interface LabRun {
  /** SHA-256 of its description and all other inputs of its figures: cards and profile of its engines, texts, release. */
  readonly id: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly spec: LabSpec;
  readonly workloadName: string;
  readonly state: LabState;
  /** In one sentence, if it failed or was interrupted. */
  readonly problem: string | null;
  /** The current activity: "Training predictors"; null if there is none. */
  readonly doing: string | null;
  /** All cells, finished or not: systems x rates x seeds. */
  readonly cellsAll: number;
  /** In arbitrary order. */
  readonly cells: readonly LabCell[];
  /** Caveats about the figures for a reader, in sentences: modelled lengths, no texts, engines extrapolated. */
  readonly notes: readonly string[];
}

/** The run, and the number of its cells that are already known: they are omitted. */
export const labRunSchema = z.object({ id: z.string().min(1), since: z.int().min(0).default(0) });

/** A run without its cells; of its description only what distinguishes it from others. */
export interface LabRunSummary
  extends Omit<LabRun, "cells" | "spec" | "notes">,
    Pick<LabSpec, "rates" | "programs" | "seeds" | "correlation"> {
  readonly cellsDone: number;
  /** Names without duplicates: systems of one name are points of one frontier. */
  readonly systems: readonly string[];
  readonly systemsAll: number;
}

/** A workflow that programs may run, for selection. */
export interface LabWorkflow {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly stages: readonly LabStage[];
  /** Other shapes of its programs with their share, 0..1: branches, rounds of a loop. Empty if all have one shape. */
  readonly otherShapes: readonly { readonly share: number; readonly stages: readonly LabStage[] }[];
}

export interface LabStage {
  readonly role: string;
  readonly part: string;
  readonly reads: readonly number[];
  readonly lengthRatio: number;
}

/**
 * The basis of a description: a workload, and the engines of a cluster's plan in force or of a saved plan if one is named. Given engines,
 * mix, correlation and chance of being misled replace the suggested ones: systems' decode times and the saturation rate are computed for
 * them.
 */
export const labSuggestionSchema = z.object({
  workloadId: z.string().min(1),
  planId: z.string().min(1).optional(),
  given: labSpecSchema.pick({ replicas: true, mix: true, correlation: true, misleads: true }).partial().optional(),
});
export type LabSuggestionRequest = z.infer<typeof labSuggestionSchema>;

export interface LabSuggestion {
  readonly spec: LabSpec;
  /** Approximate programs per second at which the suggested engines saturate: rates are shares of it. */
  readonly saturationRate: number;
  /** Every system that can be chosen for these engines, ready for comparison. */
  readonly systems: readonly (LabSystem & { readonly about: string })[];
}

import { z } from "zod";
import type { LabCell } from "@/solver/lab/labCell";
import { type LabSpec, type LabSystem, labSpecSchema } from "@/solver/lab/labSpec";

export type { LabCell } from "@/solver/lab/labCell";
export { type LabReplicas, type LabSpec, type LabSystem, labSpecSchema } from "@/solver/lab/labSpec";

/** `interrupted`: the studio stopped meanwhile. */
export type LabState = "running" | "done" | "cancelled" | "interrupted" | "failed";

/** A run of the lab. */
export interface LabRun {
  /** SHA-256 of its description and all else that its figures depend on: cards and profile of its engines, texts, release. */
  readonly id: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly spec: LabSpec;
  readonly workloadName: string;
  readonly state: LabState;
  /** In one sentence, where it failed or was interrupted. */
  readonly problem: string | null;
  /** What is being done at the moment: "Training predictors"; null where nothing is. */
  readonly doing: string | null;
  /** Cells to come and there, systems x rates x seeds in all. */
  readonly cellsAll: number;
  /** In no order that means anything. */
  readonly cells: readonly LabCell[];
  /** What a reader must know before trusting the figures, in sentences: modelled lengths, no texts, engines extrapolated. */
  readonly notes: readonly string[];
}

/** Which run, and how many of its cells are known already: they are left out. */
export const labRunSchema = z.object({ id: z.string().min(1), since: z.int().min(0).default(0) });

/** A run without its cells, and of its description what tells it from others. */
export interface LabRunSummary
  extends Omit<LabRun, "cells" | "spec" | "notes">,
    Pick<LabSpec, "rates" | "programs" | "seeds" | "correlation"> {
  readonly cellsDone: number;
  /** Names, each once: systems of one name are points of one frontier. */
  readonly systems: readonly string[];
  readonly systemsAll: number;
}

/** A workflow that programs may run, for choosing. */
export interface LabWorkflow {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly stages: readonly LabStage[];
  /** Other shapes that some of its programs take, with their share, 0..1: branches, rounds of a loop. Empty where all take one. */
  readonly otherShapes: readonly { readonly share: number; readonly stages: readonly LabStage[] }[];
}

export interface LabStage {
  readonly role: string;
  readonly part: string;
  readonly reads: readonly number[];
  readonly lengthRatio: number;
}

/**
 * Where a description starts from: a workload, and the engines of a cluster's plan in force or of a saved plan where one is named. Engines,
 * mix, correlation and chance to be misled that are given stand in place of the suggested ones: systems' decode times and the saturation rate are made for them.
 */
export const labSuggestionSchema = z.object({
  workloadId: z.string().min(1),
  planId: z.string().min(1).optional(),
  given: labSpecSchema.pick({ replicas: true, mix: true, correlation: true, misleads: true }).partial().optional(),
});
export type LabSuggestionRequest = z.infer<typeof labSuggestionSchema>;

export interface LabSuggestion {
  readonly spec: LabSpec;
  /** Programs a second at which the suggested engines saturate, roughly: rates are shares of it. */
  readonly saturationRate: number;
  /** Every system that can be chosen for these engines, ready to be raced. */
  readonly systems: readonly (LabSystem & { readonly about: string })[];
}

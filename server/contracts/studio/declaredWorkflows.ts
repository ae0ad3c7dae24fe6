import { z } from "zod";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";

/** A workflow kept in the studio, as its latest version. */
export interface DeclaredWorkflow {
  readonly document: WorkflowDocument;
  /** Counts what was kept under the name, from 1. */
  readonly version: number;
  readonly createdAt: string;
  readonly actor: string;
  /** Where it came from: written here, or a graph that another tool wrote. */
  readonly origin: "weir" | "dspy" | "langgraph";
  /** Predictors of its configurations, newest first; those for another shape of it, as of an earlier version, are left out. */
  readonly predictors: readonly { readonly hash: string; readonly version: number; readonly workloadName: string }[];
}

/** What came of reading a graph: the document it makes, and what was assumed on the way, a sentence each. */
export interface ReadWorkflow {
  readonly document: WorkflowDocument;
  readonly origin: DeclaredWorkflow["origin"];
  readonly notes: readonly string[];
}

/** A JSON document of a workflow: Weir's own, or a graph as DSPy's or LangGraph's tools write them. */
export const workflowTextSchema = z.object({ text: z.string().min(1).max(500_000) });

/** To keep a plan on the engines of another that runs these workflows just in time. */
export const justInTimeRequestSchema = z.object({
  planId: z.string().min(1),
  name: z.string().trim().min(1, "give it a name").max(80, "give a name of at most 80 characters"),
  workflows: z
    .array(
      z.object({
        name: z.string().min(1),
        /** Hash of a predictor; null: none, and the largest models alone count as accurate. */
        predictor: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .nullable(),
      }),
    )
    .min(1)
    .max(16),
  width: z.int().min(1).max(64).default(4),
});
export type JustInTimeRequest = z.infer<typeof justInTimeRequestSchema>;

/** To have a cluster's gateway run a workflow of the plan in force once. */
export const tryRunSchema = z.object({
  clusterId: z.string().min(1),
  workflow: z.string().min(1).max(64),
  input: z.string().trim().min(1, "give an input").max(100_000, "give an input of at most 100,000 characters"),
});
export type TryRunRequest = z.infer<typeof tryRunSchema>;

/** To forecast what the admissible set is worth: one workflow's programs of a workload on the engines of a plan. */
export const capacityRequestSchema = z.object({ planId: z.string().min(1), workloadId: z.string().min(1), workflow: z.string().min(1) });
export type CapacityRequest = z.infer<typeof capacityRequestSchema>;

/**
 * Accuracy against capacity as the set of configurations that count as accurate shrinks. Programs and outcomes are modelled, from the workload's
 * labels; capacity is simulated at saturation on the plan's engines.
 */
export interface CapacityCurve {
  readonly points: readonly {
    /** Share of the workflow's configurations that count as accurate, mean over programs, 0..1. */
    readonly admitted: number;
    /** Programs a second that the engines finish when they never run dry. */
    readonly programsPerSecond: number;
    /** Mean quality of what was chosen, 0..100. */
    readonly quality: number;
  }[];
  /** Of the largest models throughout. */
  readonly largest: { readonly programsPerSecond: number; readonly quality: number };
  readonly notes: readonly string[];
}

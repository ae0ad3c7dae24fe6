import { z } from "zod";
import { roundChoiceSchema, roundChoices } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { enteredTitle } from "@/solver/wording/names";

/** A workflow saved in the studio, in its latest version. */
export interface DeclaredWorkflow {
  readonly document: WorkflowDocument;
  /** Counts the versions saved under the name, from 1. */
  readonly version: number;
  readonly createdAt: string;
  readonly actor: string;
  /** Its origin: written here, or a graph of another tool. */
  readonly origin: "weir" | "dspy" | "langgraph";
  /** Predictors of its configurations, newest first; those for another shape of it, such as an earlier version, are excluded. */
  readonly predictors: readonly { readonly hash: string; readonly version: number; readonly workloadName: string }[];
}

/** The result of reading a graph: the document it makes, and the assumptions, a sentence each. */
export interface ReadWorkflow {
  readonly document: WorkflowDocument;
  readonly origin: DeclaredWorkflow["origin"];
  readonly notes: readonly string[];
}

/** A JSON document of a workflow: Weir's own, or a graph in the form that DSPy's or LangGraph's tools write. */
export const workflowTextSchema = z.object({ text: z.string().min(1).max(500_000) });

/** The request to save a plan on the engines of another that runs these workflows just in time. */
export const justInTimeRequestSchema = z.object({
  planId: z.string().min(1),
  name: enteredTitle,
  workflows: z
    .array(
      z.object({
        name: z.string().min(1),
        /** Hash of a predictor; null: none, and only the largest models count as accurate. */
        predictor: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .nullable(),
      }),
    )
    .min(1)
    .max(16),
  /** How rounds choose models; left out: a beam of `width`. */
  selection: roundChoiceSchema.optional(),
  /** Whether scores of agents' answers change which configurations count as accurate. */
  answerScores: z.boolean().default(false),
  /** Deprecated: `selection` says it. */
  width: z.int().min(1).max(64).default(roundChoices.beam.width),
});
export type JustInTimeRequest = z.input<typeof justInTimeRequestSchema>;

/** The question which agents' answers such a plan can have scored. */
export const answerScoresRequestSchema = justInTimeRequestSchema.pick({ planId: true, workflows: true });
export type AnswerScoresRequest = z.infer<typeof answerScoresRequestSchema>;

/** A model whose answers as an agent are scored. */
export interface ScoredModel {
  readonly model: string;
  /** What scores them, in words. */
  readonly by: string;
}

/** The request to run a workflow of the plan in force once in a cluster's gateway. */
export const tryRunSchema = z.object({
  clusterId: z.string().min(1),
  workflow: z.string().min(1).max(64),
  input: z.string().trim().min(1, "give an input").max(100_000, "give an input of at most 100,000 characters"),
});
export type TryRunRequest = z.infer<typeof tryRunSchema>;

/** The request to forecast the value of the admissible set: one workflow's programs of a workload on the engines of a plan. */
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
    /** Programs per second that the engines finish when they always have work. */
    readonly programsPerSecond: number;
    /** Mean quality of the chosen configurations, 0..100. */
    readonly quality: number;
  }[];
  /** With the largest models throughout. */
  readonly largest: { readonly programsPerSecond: number; readonly quality: number };
  readonly notes: readonly string[];
}

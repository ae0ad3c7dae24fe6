import { z } from "zod";
import { policySchema } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { LeftOutRuns } from "@/solver/prediction/leftOutRuns";
import type { HeldOutError } from "@/solver/prediction/predictor";
import { enteredTitle } from "@/solver/wording/names";

export const artefactKinds = ["lengths", "confidence", "configurations"] as const;
export type ArtefactKind = (typeof artefactKinds)[number];

/** What to train. */
export const trainRequestSchema = z.discriminatedUnion("train", [
  z.object({
    train: z.literal("lengths"),
    workloadId: z.string().min(1),
    /** Workflows whose modelled programs the lengths are learnt from, in equal shares, and the correlation of a program's stages. */
    workflows: z.array(z.string().min(1)).min(1, "choose at least one workflow").max(16),
    correlation: z.number().min(0).max(1),
  }),
  /** Lengths of the requests that this cluster's gateway has logged, by features it stored when it decided. */
  z.object({ train: z.literal("traffic"), clusterId: z.string().min(1) }),
  z.object({
    train: z.literal("confidence"),
    workloadId: z.string().min(1),
    /** Local folder of the studio with an ONNX encoder whose embeddings the heads read in place of hashed words. */
    encoderFolder: z.string().trim().min(1).max(1000).optional(),
  }),
  /** Which configurations of a declared workflow are as accurate as its largest, from outcomes modelled from the workload's labels. */
  z.object({
    train: z.literal("configurations"),
    workloadId: z.string().min(1),
    workflow: z.string().min(1),
    /** Models that the workflow may use, smallest first. */
    models: z.array(z.string().min(1)).min(2, "choose at least two models").max(8),
    correlation: z.number().min(0).max(1),
    /** Chance that a wrong answer of a helping agent misleads an agent that reads it. */
    misleads: z.number().min(0).max(1),
    encoderFolder: z.string().trim().min(1).max(1000).optional(),
  }),
  /** The same from executed and graded runs of the workflow: an uploaded file with one run per line. */
  z.object({
    train: z.literal("executed"),
    uploadId: z.uuid(),
    workflow: z.string().min(1),
    /** Models that the workflow may use, smallest first. */
    models: z.array(z.string().min(1)).min(2, "choose at least two models").max(8),
    encoderFolder: z.string().trim().min(1).max(1000).optional(),
  }),
]);
export type TrainRequest = z.infer<typeof trainRequestSchema>;

/** What an artefact was trained on. */
export interface ArtefactTraining {
  /** The workload; for traffic the cluster; for executed runs their workflow and their file. */
  readonly workloadId: string;
  readonly workloadName: string;
  readonly models: readonly string[];
  /** For modelled programs: their workflows, and the correlation of their stages. */
  readonly workflows: readonly string[];
  readonly correlation: number | null;
  /** For modelled outcomes: the chance that a wrong answer misleads. */
  readonly misleads?: number;
  /** Prompts, or for traffic programs, that it was trained on; others were held out. */
  readonly prompts: number;
  /** Their requests, each counted for every model it was learnt from. */
  readonly requests: number;
  /** Whether prompts' texts, or sketches of them, were available: otherwise lengths and counts only. */
  readonly texts: boolean;
  /** The encoder whose embeddings it reads; null if it reads words. */
  readonly encoder: EncoderIdentity | null;
  readonly source: "modelled programs" | "labelled prompts" | "traffic" | "modelled outcomes" | "executed runs";
  /** For configurations: the declared workflow at the time of training. */
  readonly workflow?: WorkflowDocument;
  /**
   * For traffic: excluded answers as long as their client allowed, which may have been cut, and excluded sessions with more requests than
   * any program has.
   */
  readonly leftOut?: { readonly cutAnswers: number; readonly longSessions: number };
  /** For executed runs: excluded lines and inputs. */
  readonly leftOutRuns?: LeftOutRuns;
  /** Labels and lengths of emulated engines, or of generated prompts, say nothing about real models. */
  readonly emulated: boolean;
}

/** A trained predictor as it is listed. */
export interface Artefact {
  readonly hash: string;
  readonly kind: ArtefactKind;
  readonly version: number;
  readonly createdAt: string;
  readonly actor: string;
  readonly bytes: number;
  readonly training: ArtefactTraining;
  readonly heldOut: HeldOutError;
}

/** An artefact and the kept plans that name it, newest first. */
export interface ListedArtefact extends Artefact {
  readonly plans: readonly { readonly id: string; readonly name: string; readonly clusterId: string; readonly inForce: boolean }[];
}

/** The request to save a plan on the engines of another, under a policy that may name predictors. */
export const rerouteSchema = z.object({
  planId: z.string().min(1),
  name: enteredTitle,
  policy: policySchema,
});
export type RerouteRequest = z.infer<typeof rerouteSchema>;

/** The training in progress, or the result of the last one; null if it was cancelled, or there was none. */
export type TrainingState =
  | { readonly kind: "training"; readonly since: string; readonly doing: string }
  /** `again`: equal training gives equal bytes, and these were already stored. */
  | { readonly kind: "trained"; readonly hash: string; readonly again: boolean }
  | { readonly kind: "failed"; readonly problem: string }
  | null;

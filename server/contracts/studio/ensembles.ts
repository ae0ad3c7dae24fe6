import { z } from "zod";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { Optimality } from "@/solver/ensemble/placement/optimality";
import type { SampleOrigin } from "@/solver/ensemble/replay/answerSample";
import type { ReplayedGate } from "@/solver/ensemble/replay/gateReplay";
import { enteredTitle } from "@/solver/wording/names";

/** An ensemble saved in the studio, in its latest version. */
export interface KeptEnsemble {
  readonly ensemble: Ensemble;
  /** Counts the versions saved under the name, from 1. */
  readonly version: number;
  readonly createdAt: string;
  readonly actor: string;
}

/** Answers of several models to the same questions, to choose a gate on. */
export interface AnswerSampleSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly questions: number;
  /** Accuracy over its questions, 0..1, and the share of its answers with a readable vote. */
  readonly models: readonly { readonly model: string; readonly accuracy: number; readonly voted: number; readonly meanTokens: number }[];
  readonly categories: readonly string[];
  /** `modelled`: made from a workload's labels, with wrong answers drawn; `emulated`: a batch on emulated engines. */
  readonly origin: SampleOrigin;
  /** Its origin and what was excluded, a sentence each. */
  readonly notes: readonly string[];
}

/** The source of a sample. */
const sampleSourceSchema = z.discriminatedUnion("kind", [
  /** A CSV of answers: `prompt_id, model, correct, answer` and tokens; some of its models, sixteen at most. */
  z.strictObject({ kind: z.literal("upload"), uploadId: z.uuid(), models: z.array(z.string().min(1)).min(2).max(17) }),
  /** Answers of a finished batch whose prompts had references. */
  z.strictObject({ kind: z.literal("batch"), batchId: z.string().min(1) }),
  /** Modelled from a workload's labels. */
  z.strictObject({ kind: z.literal("workload"), workloadId: z.string().min(1) }),
]);
export const keepSampleSchema = z.strictObject({ name: enteredTitle, source: sampleSourceSchema });
export type KeepSample = z.infer<typeof keepSampleSchema>;

/** The content of an uploaded table of answers, before a sample is made of it. */
export interface SurveyedAnswers {
  readonly questions: number;
  readonly models: readonly { readonly model: string; readonly answers: number; readonly accuracy: number }[];
  readonly notes: readonly string[];
}

/** A gate to replay on a sample. What the aggregator makes of the experts' answers is modelled. */
export const replayRequestSchema = z.strictObject({
  sampleId: z.string().min(1),
  experts: z.array(z.string().min(1)).min(2).max(16),
  /** Experts that answer a question, recruited by accuracy per category if there are more. */
  expertsPerQuestion: z.int().min(2).max(16),
  aggregator: z.string().min(1).nullable(),
  /** The figures that weigh votes are the sample's own. */
  confidence: z.enum(["plurality", "accuracy-weighted", "length-aware"]),
  /** Accepted loss of accuracy for a chosen tau, in points below always aggregating, at 90 % confidence. */
  allowedPoints: z.number().min(0).max(20).default(1),
});
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** A gate replayed on a labelled sample, tau by tau. Shares are 0..1. */
export type GateReport = ReplayedGate;

/** The request to place experts of an ensemble on workers of a cluster or of described hardware. */
export const placeRequestSchema = z.strictObject({
  ensemble: ensembleSchema,
  /** A card of the catalogue. */
  gpu: z.string().min(1),
  workers: z.int().min(1).max(256),
  gpusPerWorker: z.int().min(1).max(16),
  /** null: swept. */
  maxModelsPerWorker: z.int().min(1).max(16).nullable(),
  replicas: z.enum(["amortised", "single"]),
  /** The questions to answer: their number for each expert and the length of its answers, from a workload's or a sample's figures. */
  questions: z.int().min(1).max(10_000_000),
  lengths: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("workload"), workloadId: z.string().min(1) }),
    z.strictObject({ kind: z.literal("sample"), sampleId: z.string().min(1) }),
  ]),
  /** A batch's prompts, whose categories determine who answers what; absent: as in the sample, or all alike. */
  promptSetId: z.string().min(1).optional(),
  /** An upload that states which experts answer which question, instead of `skills`. */
  assignmentsUploadId: z.uuid().optional(),
  /** Read bandwidth of the weights' storage. */
  storage: z.enum(["local-nvme", "network-disk", "object-store"]),
});
export type PlaceRequest = z.infer<typeof placeRequestSchema>;

/** One session on a worker's timeline: loading from `fromSeconds`, answering from `readySeconds`, finished at `untilSeconds`. */
export interface PlacedSession {
  readonly model: string;
  readonly prompts: number;
  readonly fromSeconds: number;
  readonly readySeconds: number;
  readonly untilSeconds: number;
}

const scheduleKinds = ["placed", "round-robin", "data-concurrent", "list-scheduling"] as const;
export type ScheduleKind = (typeof scheduleKinds)[number];

/** A schedule timed with the session cost; seconds are engine seconds from the batch's start. */
export interface PlacedSchedule {
  readonly kind: ScheduleKind;
  readonly workers: readonly (readonly PlacedSession[])[];
  readonly makespanSeconds: number;
  /** Share of all workers' time until the last one has finished, 0..1. */
  readonly idle: number;
  readonly loads: number;
}

/** The placement of an ensemble's experts, its reasons, and its benefit. */
export interface EnsemblePlacement {
  readonly gpu: string;
  readonly gpusPerWorker: number;
  readonly questions: number;
  /** K of `placed`. */
  readonly maxModelsPerWorker: number;
  readonly experts: readonly {
    readonly model: string;
    readonly prompts: number;
    readonly loadSeconds: number;
    /** tau_m: the whole session's time over its prompts. */
    readonly secondsPerPrompt: number;
    /** The most workers it may be on, and the workers it is on. */
    readonly replicaCap: number;
    readonly replicas: number;
    /** Why it is on this number of workers. */
    readonly says: string;
    /** The source of its seconds. */
    readonly cost: { readonly kind: "measured" | "modelled"; readonly source: string };
    readonly load: { readonly kind: "measured" | "estimated"; readonly source: string };
    /** Output tokens per second of a whole session and of one of its shards as placed, if any: the loss through small shards. */
    readonly tokensPerSecond: { readonly whole: number; readonly shard: number | null };
  }[];
  /** `placed` first. */
  readonly schedules: readonly PlacedSchedule[];
  /** What is known of the distance of `placed` from the shortest schedule within its limits, with the session cost. */
  readonly solved: Optimality & {
    readonly makespanSeconds: number;
    readonly engine: string;
    /** Of the search and the engine. */
    readonly seconds: number;
  };
  /** Makespan timed with the session cost by K, if it was swept. */
  readonly sweep: readonly { readonly maxModelsPerWorker: number; readonly makespanSeconds: number }[];
  /**
   * The aggregator on all workers' GPUs after the experts: its answering seconds, without loading, by the share of questions it answers,
   * rising from 0 to 1; null if no shape of it fits there.
   */
  readonly aggregator: {
    readonly model: string;
    readonly tp: number;
    readonly copies: number;
    readonly loadSeconds: number;
    readonly points: readonly { readonly share: number; readonly seconds: number }[];
  } | null;
  readonly notes: readonly string[];
}

/** Sessions of a model on engines of one kind. */
export const sessionsOfEngineSchema = z.strictObject({ model: z.string().min(1), gpu: z.string().min(1), gpus: z.int().min(1) });
export type SessionsOfEngine = z.infer<typeof sessionsOfEngineSchema>;

/** Measured sessions of a model on one kind of engine, to which placements are fitted. `gpus`: per engine. */
export interface MeasuredSessions extends SessionsOfEngine {
  readonly rows: number;
  /** With prompts to answer. The other rows are loads only. */
  readonly sessions: number;
  /** Rows of emulated engines, whose times come from the planner's own model. */
  readonly emulated: number;
  /** Rows with a measured load. */
  readonly loads: number;
  /** Of sessions; null: there are none. */
  readonly fewestPrompts: number | null;
  readonly mostPrompts: number | null;
  /** Mean of their means, and the longest of all. */
  readonly meanOutputTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly leastSeconds: number | null;
  readonly mostSeconds: number | null;
  /** null: no load was measured. */
  readonly meanLoadSeconds: number | null;
  readonly latestAt: string;
}

export const keepEnsembleSchema = z.strictObject({
  ensemble: ensembleSchema,
  /** The version of its name that it replaces; null: none, it is new. */
  expects: z.int().min(1).nullable(),
});
export type KeepEnsemble = z.infer<typeof keepEnsembleSchema>;

import { z } from "zod";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { SampleOrigin } from "@/solver/ensemble/replay/answerSample";
import type { ReplayedGate } from "@/solver/ensemble/replay/gateReplay";

/** An ensemble kept in the studio, as its latest version. */
export interface KeptEnsemble {
  readonly ensemble: Ensemble;
  /** Counts what was kept under the name, from 1. */
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
  /** Accuracy over the questions it was asked, 0..1, and the share of its answers off which a vote could be read. */
  readonly models: readonly { readonly model: string; readonly accuracy: number; readonly voted: number; readonly meanTokens: number }[];
  readonly categories: readonly string[];
  /** `modelled`: made of a workload's labels, wrong answers drawn; `emulated`: a batch on emulated engines. */
  readonly origin: SampleOrigin;
  /** Where it came from and what was left out, a sentence each. */
  readonly notes: readonly string[];
}

/** Where a sample is to be taken from. */
const sampleSourceSchema = z.discriminatedUnion("kind", [
  /** A CSV of answers: `prompt_id, model, correct, answer` and tokens; some models of it, sixteen at most. */
  z.strictObject({ kind: z.literal("upload"), uploadId: z.uuid(), models: z.array(z.string().min(1)).min(2).max(17) }),
  /** Answers of a finished batch whose prompts had references. */
  z.strictObject({ kind: z.literal("batch"), batchId: z.string().min(1) }),
  /** Modelled from a workload's labels. */
  z.strictObject({ kind: z.literal("workload"), workloadId: z.string().min(1) }),
]);
export const keepSampleSchema = z.strictObject({ name: z.string().trim().min(1, "give it a name").max(80), source: sampleSourceSchema });
export type KeepSample = z.infer<typeof keepSampleSchema>;

/** What an uploaded table of answers holds, before a sample is made of it. */
export interface SurveyedAnswers {
  readonly questions: number;
  readonly models: readonly { readonly model: string; readonly answers: number; readonly accuracy: number }[];
  readonly notes: readonly string[];
}

/** A gate to be replayed on a sample. The aggregator's own answers stand in for what it would make of the experts'. */
export const replayRequestSchema = z.strictObject({
  sampleId: z.string().min(1),
  experts: z.array(z.string().min(1)).min(2).max(16),
  /** Experts that answer a question, recruited by accuracy per category where there are more of them. */
  expertsPerQuestion: z.int().min(2).max(16),
  aggregator: z.string().min(1).nullable(),
  /** Figures that weigh votes are the sample's own. */
  confidence: z.enum(["plurality", "accuracy-weighted", "length-aware"]),
  /** Points of accuracy below always aggregating that a chosen tau may cost, at 90 % confidence. */
  allowedPoints: z.number().min(0).max(20).default(1),
});
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** A gate replayed on a labelled sample, tau by tau. Shares are 0..1. */
export type GateReport = ReplayedGate;

/** To place experts of an ensemble on workers of a cluster or of described hardware. */
export const placeRequestSchema = z.strictObject({
  ensemble: ensembleSchema,
  /** A card of the catalogue. */
  gpu: z.string().min(1),
  workers: z.int().min(1).max(256),
  gpusPerWorker: z.int().min(1).max(16),
  /** null: swept. */
  maxModelsPerWorker: z.int().min(1).max(16).nullable(),
  replicas: z.enum(["amortised", "single"]),
  /** What there is to answer: how many questions for each expert and how long its answers are, by a workload's or a sample's figures. */
  questions: z.int().min(1).max(10_000_000),
  lengths: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("workload"), workloadId: z.string().min(1) }),
    z.strictObject({ kind: z.literal("sample"), sampleId: z.string().min(1) }),
  ]),
  /** A batch's prompts, whose categories say who answers what; left out: as the sample's, or all alike. */
  promptSetId: z.string().min(1).optional(),
  /** An upload that says which experts answer which question, instead of `skills`. */
  assignmentsUploadId: z.uuid().optional(),
  /** Bytes a second that weights are read at. */
  storage: z.enum(["local-nvme", "network-disk", "object-store"]),
});
export type PlaceRequest = z.infer<typeof placeRequestSchema>;

/** One session on a worker's line: loading from `fromSeconds`, answering from `readySeconds`, over at `untilSeconds`. */
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
  /** Of all workers' time until the last is done, 0..1. */
  readonly idle: number;
  readonly loads: number;
}

/** Where experts of an ensemble go, why, and what that is worth. */
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
    /** Workers it may be on at most, and is on. */
    readonly replicaCap: number;
    readonly replicas: number;
    /** Why it is on as many workers and not on more or fewer. */
    readonly says: string;
    /** Where its seconds are from. */
    readonly cost: { readonly kind: "measured" | "modelled"; readonly source: string };
    readonly load: { readonly kind: "measured" | "estimated"; readonly source: string };
    /** Output tokens a second of a whole session and of one of its shards as placed, where it has any: what small shards lose. */
    readonly tokensPerSecond: { readonly whole: number; readonly shard: number | null };
  }[];
  /** `placed` first. */
  readonly schedules: readonly PlacedSchedule[];
  /** Proven for the linear costs of the ILP, which a schedule timed with the session cost may differ from. */
  readonly solved: {
    readonly makespanSeconds: number;
    readonly lowerBoundSeconds: number;
    readonly gap: number;
    readonly engine: string;
    readonly seconds: number;
    readonly proven: boolean;
  };
  /** Makespan timed with the session cost by K, where it was swept. */
  readonly sweep: readonly { readonly maxModelsPerWorker: number; readonly makespanSeconds: number }[];
  /** The aggregator on all workers' GPUs after the experts; by share of questions it answers, rising from 0 to 1, its seconds of answering, without loading; null where it fits them in no shape. */
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

/** What was measured of sessions of a model on one kind of engine: what placements are fitted to. `gpus`: of an engine. */
export interface MeasuredSessions extends SessionsOfEngine {
  readonly rows: number;
  /** With prompts to answer. The other rows are loads alone. */
  readonly sessions: number;
  /** Rows of emulated engines, whose times the planner's own model made. */
  readonly emulated: number;
  /** Rows with a load that was measured. */
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
  /** The version of its name that it is to replace; null: none, as it is new. */
  expects: z.int().min(1).nullable(),
});
export type KeepEnsemble = z.infer<typeof keepEnsembleSchema>;

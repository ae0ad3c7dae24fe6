import { z } from "zod";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { PlacedSchedule } from "./ensembles";

/** Requests that a session has in flight at most, where nothing else is asked. */
export const DEFAULT_CONCURRENCY = 64;

/** To run the prompts of a sample through an ensemble on the free GPUs of a cluster. */
export const batchRequestSchema = z.strictObject({
  name: z.string().trim().min(1, "give it a name").max(80, "give a name of at most 80 characters"),
  clusterId: z.string().min(1),
  promptSetId: z.string().min(1),
  /** Name of a kept ensemble; the batch has its own copy of it. */
  ensemble: z.string().min(1),
  workers: z.int().min(1).max(256),
  gpusPerWorker: z.int().min(1).max(16),
  /** null: swept. */
  maxModelsPerWorker: z.int().min(1).max(16).nullable(),
  replicas: z.enum(["amortised", "single"]).default("amortised"),
  /** An upload that says which experts answer which question; left out: by the ensemble's skills. */
  assignmentsUploadId: z.uuid().optional(),
  /** Requests that a session has in flight at most. */
  concurrency: z.int().min(1).max(1024).default(DEFAULT_CONCURRENCY),
  /** Wall seconds for one answer, and how often it is asked for before it counts as failed. */
  timeoutSeconds: z.number().positive().max(86_400).default(600),
  attempts: z.int().min(1).max(10).default(3),
});
export type BatchRequest = z.infer<typeof batchRequestSchema>;

export type BatchState = "running" | "paused" | "done" | "stopped";

/** A session of a batch as it stands. */
export interface BatchSession {
  /** `aggregator` runs after all of the experts'. */
  readonly stage: "experts" | "aggregator";
  readonly worker: number;
  /** Its turn on that worker, from 0. */
  readonly turn: number;
  readonly model: string;
  readonly prompts: number;
  readonly answered: number;
  readonly failed: number;
  readonly state: "waiting" | "loading" | "running" | "unloading" | "done";
  readonly engine: string | null;
  /** As they were predicted (the aggregator's as in `aggregatorPredicted`), and as they were: engine seconds of loading and of answering; null: not yet, or nothing predicts them. */
  readonly predicted: { readonly loadSeconds: number; readonly seconds: number } | null;
  readonly measured: { readonly loadSeconds: number | null; readonly seconds: number | null };
  /** What it will have taken, in engine seconds, by the rule that `etaSeconds` of the batch goes by; null: it is over, is not needed, or nothing tells. */
  readonly expected: { readonly loadSeconds: number; readonly seconds: number } | null;
}

/** A batch as lists tell of it. */
export interface BatchSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly actor: string;
  readonly clusterId: string;
  readonly promptSetId: string;
  readonly ensemble: string;
  readonly state: BatchState;
  /** Why it is paused, and since when; null: it is not. */
  readonly pause: { readonly kind: "operator" | "problem"; readonly reason: string; readonly since: string } | null;
  readonly questions: number;
  readonly emulated: boolean;
}

/** A batch in full. Seconds are engine seconds. */
export interface Batch extends BatchSummary {
  readonly document: Ensemble;
  readonly request: BatchRequest;
  readonly schedules: readonly PlacedSchedule[];
  readonly sessions: readonly BatchSession[];
  /**
   * The aggregator's stage at the share of questions that it is sent, 0..1; that is not known before all experts are through, and until then it is as if all
   * were sent. `says` which, in a sentence.
   */
  readonly aggregatorPredicted: {
    readonly loadSeconds: number;
    readonly seconds: number;
    readonly share: number;
    readonly says: string;
  };
  readonly progress: {
    readonly expertAnswers: { readonly asked: number; readonly done: number; readonly failed: number };
    /** Questions that the gate has decided, and how. `unanswered`: neither experts nor aggregator gave an answer. */
    readonly questions: {
      readonly skipped: number;
      readonly aggregated: number;
      readonly unanswered: number;
      readonly open: number;
      /** Those that the gate sends to the aggregator, answered by it or not: with those skipped, all whose experts are through. */
      readonly toAggregate: number;
    };
    /** Answers off which no vote could be read. */
    readonly noVote: number;
    /** Calls by what went wrong, in words, most first. */
    readonly failures: readonly { readonly failure: string; readonly calls: number }[];
    /** Attempts that a killed studio had under way, and made again. */
    readonly lost: number;
    /** Attempts that failed and were made again. */
    readonly retried: number;
    /** null: it is over, paused, being read, or not known yet. */
    readonly etaSeconds: number | null;
    /** Questions whose calls are read from the disk, where it was just taken up or is looked at anew: all counts here, and of sessions and accuracy, are of these. null: all are read. */
    readonly questionsRead: number | null;
  };
  /** Of questions with a reference that are decided; null where there are none. */
  readonly accuracy: { readonly right: number; readonly questions: number } | null;
  readonly notes: readonly string[];
}

/** What a model said to a question of a batch. */
export interface BatchAnswer {
  readonly model: string;
  /** null: nothing could be read off its answer, or there is none. */
  readonly vote: string | null;
  readonly text: string | null;
  readonly outputTokens: number | null;
  /** Why there is no answer, in a few words; null: there is one. */
  readonly failure: string | null;
}

/** One line of a batch's results (JSONL). */
export interface BatchResult {
  readonly id: string;
  readonly category: string;
  readonly verdict: "skipped" | "aggregated" | "unanswered";
  /** The vote that was returned, and the whole text that it was read off; null: there is none. */
  readonly answer: string | null;
  readonly text: string | null;
  readonly confidence: number;
  readonly votes: string;
  /** null: the prompt has no reference. */
  readonly correct: boolean | null;
  /** Those that the question was put to, in the ensemble's order. */
  readonly experts: readonly BatchAnswer[];
  /** null: it was not asked. Where it failed, the experts' leading vote is the answer. */
  readonly aggregator: BatchAnswer | null;
}

/** A batch as files for somebody else's hands: one that would be started, or one that was, as it was settled then. */
const format = z.enum(["kubernetes", "ray"]);
export const batchExportSchema = z.union([
  z.strictObject({ request: batchRequestSchema, format }),
  z.strictObject({ batchId: z.string().min(1), format }),
]);
export type BatchExport = z.infer<typeof batchExportSchema>;

/** What starting it would do: sessions timed, free GPUs taken, and what is assumed. */
export interface BatchPreview {
  readonly schedules: readonly PlacedSchedule[];
  readonly gpus: readonly { readonly node: string; readonly gpus: readonly number[] }[];
  readonly questions: number;
  /** The aggregator's engines, which take the same GPUs when all experts are done; engine seconds. */
  readonly aggregator: {
    readonly model: string;
    /** GPUs of each engine, and engines. */
    readonly tp: number;
    readonly copies: number;
    readonly loadSeconds: number;
    /** Answering, were all questions to reach it. */
    readonly allSeconds: number;
    /**
     * Answering the share of questions, 0..1, that the gate would send to it by the votes of a kept sample of answers, which `source` names as it ends a
     * sentence "... as in ...". null: there is no such sample, or all are sent whatever the votes.
     */
    readonly expected: { readonly share: number; readonly seconds: number; readonly source: string } | null;
  };
  readonly notes: readonly string[];
}

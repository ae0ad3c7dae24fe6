import { z } from "zod";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { enteredTitle } from "@/solver/wording/names";
import type { PlacedSchedule } from "./ensembles";

/** Default of the requests that a session has in flight at most. */
export const DEFAULT_CONCURRENCY = 64;

/** The request to run the prompts of a sample through an ensemble on the free GPUs of a cluster. */
export const batchRequestSchema = z.strictObject({
  name: enteredTitle,
  clusterId: z.string().min(1),
  promptSetId: z.string().min(1),
  /** Name of a saved ensemble; the batch has its own copy of it. */
  ensemble: z.string().min(1),
  workers: z.int().min(1).max(256),
  gpusPerWorker: z.int().min(1).max(16),
  /** null: swept. */
  maxModelsPerWorker: z.int().min(1).max(16).nullable(),
  replicas: z.enum(["amortised", "single"]).default("amortised"),
  /** An upload that states which experts answer which question; absent: by the ensemble's skills. */
  assignmentsUploadId: z.uuid().optional(),
  /** Requests that a session has in flight at most. */
  concurrency: z.int().min(1).max(1024).default(DEFAULT_CONCURRENCY),
  /** Wall seconds for one answer, and the attempts after which it counts as failed. */
  timeoutSeconds: z.number().positive().max(86_400).default(600),
  attempts: z.int().min(1).max(10).default(3),
});
export type BatchRequest = z.infer<typeof batchRequestSchema>;

export type BatchState = "running" | "paused" | "done" | "stopped";

/** The present state of a session of a batch. */
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
  /**
   * Predicted (the aggregator's as in `aggregatorPredicted`) and actual: engine seconds of loading and of answering; null: not yet, or
   * there is no prediction.
   */
  readonly predicted: { readonly loadSeconds: number; readonly seconds: number } | null;
  readonly measured: { readonly loadSeconds: number | null; readonly seconds: number | null };
  /**
   * Its expected duration in engine seconds, by the rule of the batch's `etaSeconds`; null: it has ended, is not needed, or cannot be
   * estimated.
   */
  readonly expected: { readonly loadSeconds: number; readonly seconds: number } | null;
}

/** A batch in lists. */
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
   * The aggregator's stage at the share of questions that it gets, 0..1; that share is not known before all experts have finished, and
   * until then all questions are assumed. `says` states which, in a sentence.
   */
  readonly aggregatorPredicted: {
    readonly loadSeconds: number;
    readonly seconds: number;
    readonly share: number;
    readonly says: string;
  };
  readonly progress: {
    readonly expertAnswers: { readonly asked: number; readonly done: number; readonly failed: number };
    /** Questions that the gate has decided, by outcome. `unanswered`: neither experts nor aggregator gave an answer. */
    readonly questions: {
      readonly skipped: number;
      readonly aggregated: number;
      readonly unanswered: number;
      readonly open: number;
      /**
       * Those that the gate sends to the aggregator, answered by it or not: together with the skipped ones, all questions whose experts
       * have finished.
       */
      readonly toAggregate: number;
    };
    /** Answers without a readable vote. */
    readonly noVote: number;
    /** Calls by failure, in words, most first. */
    readonly failures: readonly { readonly failure: string; readonly calls: number }[];
    /** Attempts that were in flight when the studio was killed, and were repeated. */
    readonly lost: number;
    /** Attempts that failed and were repeated. */
    readonly retried: number;
    /** null: it has ended, is paused, is being read, or cannot be estimated yet. */
    readonly etaSeconds: number | null;
    /**
     * Questions whose calls are read from the disk, if it was just resumed or is being read again: all counts here, and of sessions and
     * accuracy, cover these only. null: all are read.
     */
    readonly questionsRead: number | null;
  };
  /** Over decided questions with a reference; null if there are none. */
  readonly accuracy: { readonly right: number; readonly questions: number } | null;
  readonly notes: readonly string[];
}

/** A model's answer to a question of a batch. */
export interface BatchAnswer {
  readonly model: string;
  /** null: its answer has no readable vote, or there is none. */
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
  /** The returned vote, and the whole text from which it was read; null: there is none. */
  readonly answer: string | null;
  readonly text: string | null;
  readonly confidence: number;
  readonly votes: string;
  /** null: the prompt has no reference. */
  readonly correct: boolean | null;
  /** The experts that got the question, in the ensemble's order. */
  readonly experts: readonly BatchAnswer[];
  /** null: it was not called. If it failed, the experts' leading vote is the answer. */
  readonly aggregator: BatchAnswer | null;
}

/** A batch as files for use outside of Weir: one that would be started, or one that was, with its settings then. */
const format = z.enum(["kubernetes", "ray"]);
export const batchExportSchema = z.union([
  z.strictObject({ request: batchRequestSchema, format }),
  z.strictObject({ batchId: z.string().min(1), format }),
]);
export type BatchExport = z.infer<typeof batchExportSchema>;

/** The effect of starting it: timed sessions, the free GPUs it takes, and the assumptions. */
export interface BatchPreview {
  readonly schedules: readonly PlacedSchedule[];
  readonly gpus: readonly { readonly node: string; readonly gpus: readonly number[] }[];
  readonly questions: number;
  /** The aggregator's engines, which use the same GPUs when all experts have finished; engine seconds. */
  readonly aggregator: {
    readonly model: string;
    /** GPUs of each engine, and engines. */
    readonly tp: number;
    readonly copies: number;
    readonly loadSeconds: number;
    /** Answering time if all questions reach it. */
    readonly allSeconds: number;
    /**
     * Answering time for the share of questions, 0..1, that the gate would send to it by the votes of a saved sample of answers, which
     * `source` names so that it ends a sentence "... as in ...". null: there is no such sample, or all are sent whatever the votes.
     */
    readonly expected: { readonly share: number; readonly seconds: number; readonly source: string } | null;
  };
  readonly notes: readonly string[];
}

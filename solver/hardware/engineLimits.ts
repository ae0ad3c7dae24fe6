import { z } from "zod";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { machineName } from "@/solver/wording/names";

/** Bounds that an engine was started with; an omitted bound has its default. */
export interface EngineLimits {
  /** Sequences it runs at once: vLLM's `max-num-seqs`, SGLang's `max-running-requests`. */
  readonly maxSequences?: number | undefined;
  /** Tokens of one step: vLLM's `max-num-batched-tokens`, SGLang's `chunked-prefill-size`. */
  readonly maxBatchedTokens?: number | undefined;
}

const count = z.int().min(1).max(10_000_000);

export const engineLimitFields = { maxSequences: count.optional(), maxBatchedTokens: count.optional() };

/** The source of the limits of a model's engines: reported by the engine, or set by an operator. Without either they are assumed. */
export const limitSources = ["engine", "operator"] as const;
export type LimitSource = (typeof limitSources)[number];

/** Limits of the engines of one model, or of all models where none is named. */
export const modelLimitsSchema = z.strictObject({
  model: machineName.optional(),
  ...engineLimitFields,
  source: z.enum(limitSources),
});
export type ModelLimits = z.infer<typeof modelLimitsSchema>;

/** The limits of a model's engines: its own entry, else that of all models, field by field. */
export function limitsOfModel(all: readonly ModelLimits[] | undefined, model: string): EngineLimits {
  const found = (all ?? []).filter((one) => one.model === undefined || one.model === model);
  const own = [...found.filter((one) => one.model === model), ...found];
  return {
    maxSequences: own.find((one) => one.maxSequences !== undefined)?.maxSequences,
    maxBatchedTokens: own.find((one) => one.maxBatchedTokens !== undefined)?.maxBatchedTokens,
  };
}

/** The replica under the limits of its engine. A step has room for one token more than the maximum of sequences, as the simulator needs. */
export function withLimits(replica: ReplicaModel, { maxSequences, maxBatchedTokens }: EngineLimits): ReplicaModel {
  const tokens = Math.max(2, maxBatchedTokens ?? replica.maxBatchedTokens);
  return { ...replica, maxBatchedTokens: tokens, maxSequences: Math.min(maxSequences ?? replica.maxSequences, tokens - 1) };
}

import { z } from "zod";
import type { EngineLimits } from "@/solver/hardware/engineLimits";

const positive = z.int().positive();
const orNothing = positive.nullish().catch(null);

/** vLLM's `/server_info?config_format=json`, which it serves in its development mode only (read in vLLM 0.32). */
const vllmSchema = z
  .object({ vllm_config: z.object({ scheduler_config: z.object({ max_num_seqs: positive, max_num_batched_tokens: positive }) }) })
  .transform(({ vllm_config: { scheduler_config: own } }) => ({
    maxSequences: own.max_num_seqs,
    maxBatchedTokens: own.max_num_batched_tokens,
  }));

/** SGLang's arguments: no number of requests if it chooses one itself, -1 if it does not divide prompts. */
const sglangSchema = z
  .object({ tp_size: positive, max_running_requests: orNothing, chunked_prefill_size: orNothing })
  .transform((own) => ({ maxSequences: own.max_running_requests, maxBatchedTokens: own.chunked_prefill_size }));

/** TGI's `/info`. */
const tgiSchema = z
  .object({ model_id: z.string(), max_batch_size: orNothing, max_batch_prefill_tokens: orNothing })
  .transform((own) => ({ maxSequences: own.max_batch_size, maxBatchedTokens: own.max_batch_prefill_tokens }));

/** llama.cpp's `/props`. */
const llamaSchema = z.object({ total_slots: positive }).transform((own) => ({ maxSequences: own.total_slots, maxBatchedTokens: null }));

/** Weir's real engine (`server/llamaEngine`). */
const weirSchema = z
  .object({ engine: z.literal("weir-engine"), max_sequences: positive, max_batched_tokens: positive })
  .transform((own) => ({ maxSequences: own.max_sequences, maxBatchedTokens: own.max_batched_tokens }));

const schemas = [weirSchema, vllmSchema, sglangSchema, tgiSchema, llamaSchema] as const;

/**
 * The limits with which an engine was started, if it reports them. vLLM's metrics and its list of models do not.
 *
 * @param pages its answers to requests for its settings, as JSON.
 * @returns null if none of the answers contains any.
 */
export function reportedLimits(pages: readonly unknown[]): EngineLimits | null {
  for (const page of pages) {
    for (const schema of schemas) {
      const { success, data } = schema.safeParse(page);
      if (!success) continue;
      const { maxSequences, maxBatchedTokens } = data;
      if (maxSequences || maxBatchedTokens)
        return { ...(maxSequences ? { maxSequences } : {}), ...(maxBatchedTokens ? { maxBatchedTokens } : {}) };
    }
  }
  return null;
}

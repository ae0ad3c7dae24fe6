import type { Command } from "commander";
import type { ServingRow } from "@/solver/calibration/servingRow";
import type { EngineLimits } from "@/solver/hardware/engineLimits";
import { MAX_BATCHED_TOKENS, MAX_SEQUENCES } from "@/solver/hardware/replicaShapes";
import { refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";

export interface LimitFlags {
  readonly maxNumSeqs?: number;
  readonly maxNumBatchedTokens?: number;
}

/** Rows with the limits of their engines, if the table does not state them. */
export const underLimits = (rows: readonly ServingRow[], limits: EngineLimits): readonly ServingRow[] =>
  Object.keys(limits).length === 0 ? rows : rows.map((row) => ({ ...row, limits: { ...limits, ...row.limits } }));

/** Adds the flags of the engines' start limits. */
export const withLimitFlags = (command: Command): Command =>
  command
    .option(
      "--max-num-seqs <n>",
      `sequences an engine runs at once (assumed: ${MAX_SEQUENCES})`,
      numberFlag({ min: 1, max: 100_000, whole: true }),
    )
    .option(
      "--max-num-batched-tokens <n>",
      `tokens of one engine step (assumed: ${MAX_BATCHED_TOKENS})`,
      numberFlag({ min: 2, max: 10_000_000, whole: true }),
    );

/**
 * The limits in the flags.
 * @throws Refusal
 */
export function readLimits({ maxNumSeqs, maxNumBatchedTokens }: LimitFlags): EngineLimits {
  if (maxNumSeqs !== undefined && maxNumBatchedTokens !== undefined && maxNumBatchedTokens < maxNumSeqs)
    refuse(
      `--max-num-batched-tokens: ${maxNumBatchedTokens} is less than one token for each of ${maxNumSeqs} sequences; no engine starts so.`,
    );
  return {
    ...(maxNumSeqs === undefined ? {} : { maxSequences: maxNumSeqs }),
    ...(maxNumBatchedTokens === undefined ? {} : { maxBatchedTokens: maxNumBatchedTokens }),
  };
}

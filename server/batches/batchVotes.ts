import type { StoredBatch } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { batchShape } from "./batchShape";
import type { AnsweredQuestion } from "./jobResults";
import { isOver } from "./judgeQuestion";
import { byPosition } from "./questions";

/** Questions that are read at once. */
const PAGE = 200;

/**
 * The experts' answers to each question of a batch that all of its experts have finished, in order of prompts, read lazily page by page.
 * Undecided questions are included: those that wait for the aggregator are exactly those on which experts disagree.
 */
export function* batchVotes(
  batch: Pick<StoredBatch, "id" | "promptSetId" | "order">,
  { batches, prompts }: Pick<Store, "batches" | "prompts">,
): Generator<AnsweredQuestion> {
  const { id: batchId, promptSetId, order } = batch;
  const { expertsOf } = batchShape(batch);
  for (let from = 0; from < order.questions; from += PAGE) {
    const names = new Map(prompts.names(promptSetId, from, from + PAGE).map(({ position, id }) => [position, id]));
    const calls = batches.callsBetween(batchId, from, from + PAGE).filter((call) => call.stage === "experts" && isOver(call));
    for (const own of byPosition(calls)) {
      const position = own[0]?.position ?? 0;
      const id = names.get(position);
      // If a sample's texts are deleted, only positions are known.
      if (id !== undefined && own.length === expertsOf(position).length)
        yield {
          id,
          experts: own.map(({ model, vote, outputTokens, state }) => ({ model, vote, outputTokens, failed: state === "failed" })),
        };
    }
  }
}

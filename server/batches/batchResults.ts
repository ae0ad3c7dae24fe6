import type { BatchAnswer, BatchResult } from "@/server/contracts/studio/batches";
import type { StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { voteJudge } from "@/solver/ensemble/gate/voteReader";
import { type BatchShape, batchShape } from "./batchShape";
import { judgeQuestion } from "./judgeQuestion";
import { byPosition } from "./questions";

/** Questions that are read at once: their answers may have ten thousand tokens each. */
const PAGE = 50;

/** Decided questions of a batch, in order of prompts, read lazily page by page. */
export function* batchResults(
  batch: Pick<StoredBatch, "id" | "promptSetId" | "order">,
  store: Pick<Store, "batches" | "prompts">,
): Generator<BatchResult> {
  const { id, promptSetId, order } = batch;
  const shape = batchShape(batch);
  const isRight = voteJudge(order.ensemble.extraction);
  for (let from = 0; from < order.questions; from += PAGE) {
    const prompts = new Map(store.prompts.some(promptSetId, from, from + PAGE).map(({ position, prompt }) => [position, prompt]));
    for (const calls of byPosition(store.batches.answersBetween(id, from, from + PAGE))) {
      const position = calls[0]?.position ?? 0;
      // If a sample's texts are deleted, only positions are known.
      const { id: promptId = `prompt ${position + 1}`, category = "", reference = null } = prompts.get(position) ?? {};
      const decided = resultOf(calls, position, { shape, order });
      if (decided !== null) yield { id: promptId, category, ...decided, correct: isRight(decided.answer, reference) };
    }
  }
}

/** null: it is not decided. */
function resultOf(
  calls: readonly StoredBatchCall[],
  position: number,
  { shape, order }: { readonly shape: BatchShape; readonly order: StoredBatch["order"] },
): Omit<BatchResult, "id" | "category" | "correct"> | null {
  const experts = shape.expertsOf(position);
  const judged = judgeQuestion(calls, experts, order);
  if (judged === null || judged.verdict === "open") return null;
  const { decision, verdict, vote, by } = judged;
  const called = (stage: StoredBatchCall["stage"], model: string) => calls.find((call) => call.stage === stage && call.model === model);
  const aggregated = calls.find(({ stage }) => stage === "aggregator");
  return {
    verdict,
    answer: vote,
    text: by === null ? null : (called(by.stage, by.model)?.answer ?? null),
    confidence: decision.confidence,
    votes: decision.votes,
    experts: experts.map((model) => answerOf(model, called("experts", model))),
    aggregator: aggregated === undefined ? null : answerOf(aggregated.model, aggregated),
  };
}

const answerOf = (model: string, call: StoredBatchCall | undefined): BatchAnswer => ({
  model,
  vote: call?.vote ?? null,
  text: call?.answer ?? null,
  outputTokens: call?.outputTokens ?? null,
  failure: call?.failure ?? null,
});

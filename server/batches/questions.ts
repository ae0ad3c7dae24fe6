import type { Batch } from "@/server/contracts/batches";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { voteReader } from "@/solver/ensemble/voteReader";
import type { BatchShape } from "./batchShape";
import { CallQueue } from "./callQueue";
import { isRight, judgeQuestion, type OverCall } from "./judgeQuestion";

/** Questions that are read at once. */
const PAGE = 500;

export interface QuestionsParts {
  readonly batch: Pick<StoredBatch, "id" | "promptSetId" | "order">;
  readonly shape: BatchShape;
  readonly store: Pick<Store, "batches" | "prompts">;
}

/** What became of a batch's questions: each is decided as soon as its experts have answered, and is put to the aggregator where they disagree. */
export class Questions {
  /** Those that the aggregator is yet to be asked. */
  readonly undecided = new CallQueue();
  readonly #parts: QuestionsParts;
  /** Experts that are still out, question by question. */
  readonly #out: Uint8Array;
  readonly #readVote: (text: string) => string | null;
  #counts = { skipped: 0, aggregated: 0, unanswered: 0 };
  #accuracy = { right: 0, questions: 0 };
  #toAggregate = 0;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
    const { id, order } = parts.batch;
    this.#readVote = voteReader(order.ensemble.extraction);
    this.#out = Uint8Array.from({ length: order.questions }, (_, position) => parts.shape.expertsOf(position).length);
    for (let from = 0; from < order.questions; from += PAGE) {
      const calls = parts.store.batches.overBetween(id, from, from + PAGE);
      for (const own of byPosition(calls)) {
        const position = own[0]?.position ?? 0;
        this.#out[position] = (this.#out[position] ?? 0) - own.filter(({ stage }) => stage === "experts").length;
        this.#judge(position, own, true);
      }
    }
  }

  /** By how they were decided. */
  get counts(): Batch["progress"]["questions"] {
    const { skipped, aggregated, unanswered } = this.#counts;
    return { skipped, aggregated, unanswered, open: this.#parts.batch.order.questions - skipped - aggregated - unanswered };
  }

  /** Of those that are decided and have a reference; null: there are none. */
  get accuracy(): Batch["accuracy"] {
    return this.#accuracy.questions === 0 ? null : this.#accuracy;
  }

  /** Of questions whose experts are through, the share that the aggregator is asked, 0..1; null before the first. */
  get aggregatedShare(): number | null {
    const through = this.#toAggregate + this.#counts.skipped;
    return through === 0 ? null : this.#toAggregate / through;
  }

  /** Questions that the aggregator was sent, or is going to be. */
  get sent(): number {
    return this.#toAggregate;
  }

  /** A call of a question has come to its end, and that is on disk. @throws what the disk throws, having changed nothing. */
  end({ stage, position }: Pick<OverCall, "stage" | "position">): void {
    const out = (this.#out[position] ?? 0) - (stage === "experts" ? 1 : 0);
    if (out === 0) {
      const calls = this.#parts.store.batches.overBetween(this.#parts.batch.id, position, position + 1);
      this.#judge(position, calls, stage === "experts");
    }
    this.#out[position] = out;
  }

  /** @param isNews its experts were not known to be through. */
  #judge(position: number, calls: readonly OverCall[], isNews: boolean): void {
    const { batch, shape, store } = this.#parts;
    const judged = judgeQuestion(calls, shape.expertsOf(position), batch.order);
    if (judged === null) return;
    const reference = judged.verdict === "open" ? null : (store.prompts.prompt(batch.promptSetId, position)?.reference ?? null);
    const isAggregated = judged.verdict === "open" || calls.some((call) => call.stage === "aggregator");
    if (isNews && isAggregated) this.#toAggregate += 1;
    if (judged.verdict === "open") {
      this.undecided.add(position);
      return;
    }
    this.#counts[judged.verdict] += 1;
    const right = isRight(judged.vote, reference, this.#readVote);
    if (right === null) return;
    const { right: before, questions } = this.#accuracy;
    this.#accuracy = { right: before + (right ? 1 : 0), questions: questions + 1 };
  }
}

/** Calls in order of prompts, those of a prompt together. */
export function byPosition<Call extends { readonly position: number }>(calls: readonly Call[]): readonly (readonly Call[])[] {
  const groups: Call[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last?.[0]?.position === call.position) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

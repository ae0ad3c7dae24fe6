import type { Batch } from "@/server/contracts/studio/batches";
import type { StoredBatch } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { voteJudge } from "@/solver/ensemble/gate/voteReader";
import type { BatchShape } from "./batchShape";
import { CallQueue } from "./callQueue";
import { isOver, judgeQuestion, type OverCall } from "./judgeQuestion";

export interface QuestionsParts {
  readonly batch: Pick<StoredBatch, "id" | "promptSetId" | "order">;
  readonly shape: BatchShape;
  readonly store: Pick<Store, "batches" | "prompts">;
}

/** The state of a batch's questions: each is decided as soon as its experts have answered, and goes to the aggregator if they disagree. */
export class Questions {
  /** Questions for the aggregator that were not asked yet. */
  readonly undecided = new CallQueue();
  readonly #parts: QuestionsParts;
  /** Experts with ended calls, question by question: a bit for each. */
  readonly #over: Uint16Array;
  readonly #isRight: ReturnType<typeof voteJudge>;
  #counts = { skipped: 0, aggregated: 0, unanswered: 0 };
  #accuracy = { right: 0, questions: 0 };
  #toAggregate = 0;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
    const { order } = parts.batch;
    this.#isRight = voteJudge(order.ensemble.extraction);
    this.#over = new Uint16Array(order.questions);
  }

  /**
   * Adds calls that ended earlier, all of a question together.
   * @param references by position.
   */
  read(calls: readonly OverCall[], references: ReadonlyMap<number, string>): void {
    for (const own of byPosition(calls)) {
      const position = own[0]?.position ?? 0;
      for (const { stage, model } of own) if (stage === "experts") this.#note(position, model);
      this.#judge(position, own, { isNews: true, reference: () => references.get(position) ?? null });
    }
  }

  /** Whether an expert's call of a question has ended. */
  isAnswered(position: number, expert: string): boolean {
    return ((this.#over[position] ?? 0) & this.#bitOf(expert)) !== 0;
  }

  /** Counts by kind of decision. */
  get counts(): Batch["progress"]["questions"] {
    const { skipped, aggregated, unanswered } = this.#counts;
    const open = this.#parts.batch.order.questions - skipped - aggregated - unanswered;
    return { skipped, aggregated, unanswered, open, toAggregate: this.#toAggregate };
  }

  /** Over decided questions with a reference; null: there are none. */
  get accuracy(): Batch["accuracy"] {
    return this.#accuracy.questions === 0 ? null : this.#accuracy;
  }

  /** Share of the questions with finished experts that the aggregator gets, 0..1; null before the first. */
  get aggregatedShare(): number | null {
    const through = this.#toAggregate + this.#counts.skipped;
    return through === 0 ? null : this.#toAggregate / through;
  }

  /** Questions that the aggregator got, or will get. */
  get sent(): number {
    return this.#toAggregate;
  }

  /**
   * A call of a question has ended, and that is on disk.
   * @throws the disk's errors: then the call must be repeated.
   */
  end({ stage, position, model }: Pick<OverCall, "stage" | "position" | "model">): void {
    const { batch, shape, store } = this.#parts;
    if (stage === "experts") this.#note(position, model);
    if (!shape.expertsOf(position).every((expert) => this.isAnswered(position, expert))) return;
    const calls = store.batches.callsBetween(batch.id, position, position + 1).filter(isOver);
    const reference = () => store.prompts.references(batch.promptSetId, position, position + 1).get(position) ?? null;
    this.#judge(position, calls, { isNews: stage === "experts", reference });
  }

  #bitOf(expert: string): number {
    return 1 << this.#parts.batch.order.ensemble.experts.indexOf(expert);
  }

  #note(position: number, expert: string): void {
    this.#over[position] = (this.#over[position] ?? 0) | this.#bitOf(expert);
  }

  /** @param more `isNews`: its experts were not known to have finished; `reference` is read when it is decided. */
  #judge(
    position: number,
    calls: readonly OverCall[],
    { isNews, reference }: { readonly isNews: boolean; readonly reference: () => string | null },
  ): void {
    const { batch, shape } = this.#parts;
    const judged = judgeQuestion(calls, shape.expertsOf(position), batch.order);
    if (judged === null) return;
    const right = judged.verdict === "open" ? null : this.#isRight(judged.vote, reference());
    const isAggregated = judged.verdict === "open" || calls.some((call) => call.stage === "aggregator");
    if (isNews && isAggregated) this.#toAggregate += 1;
    if (judged.verdict === "open") {
      this.undecided.add(position);
      return;
    }
    this.#counts[judged.verdict] += 1;
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

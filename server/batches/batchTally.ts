import type { BatchStage, StoredBatchCall } from "@/server/store/batchRepository";
import { isOver } from "./judgeQuestion";

/** The fields of a call that are counted. */
type EndedCall = Pick<StoredBatchCall, "stage" | "engine" | "state" | "failure" | "vote">;

/** Calls of one session. */
export interface SessionCount {
  readonly done: number;
  readonly failed: number;
}

const nothing: SessionCount = { done: 0, failed: 0 };

/** Most failures that are counted separately; further ones are combined. */
const MOST_FAILURES = 40;
const OTHER = "something else";

/** Counts of a batch: read from the disk at first, then updated with every call that ends. */
export class BatchTally {
  readonly #sessions = new Map<string, SessionCount>();
  readonly #failures = new Map<string, number>();
  readonly #stages: Record<BatchStage, SessionCount> = { experts: nothing, aggregator: nothing };
  #noVote = 0;
  #lost = 0;
  #retried = 0;

  /** A call as stored on disk. */
  read(call: EndedCall & Pick<StoredBatchCall, "attempts" | "lost">): void {
    const { state, attempts, lost } = call;
    this.#lost += lost;
    this.#retried += attempts - lost - (isOver(call) || state === "asked" ? 1 : 0);
    if (isOver(call)) this.end(call);
  }

  /** A call that has ended. */
  end({ stage, engine, state, failure, vote }: EndedCall): void {
    const isDone = state === "done";
    const plus = (count: SessionCount): SessionCount => ({
      done: count.done + (isDone ? 1 : 0),
      failed: count.failed + (isDone ? 0 : 1),
    });
    this.#stages[stage] = plus(this.#stages[stage]);
    if (engine !== null) this.#sessions.set(engine, plus(this.session(engine)));
    if (isDone && vote === null) this.#noVote += 1;
    if (isDone || failure === null) return;
    const words = this.#failures.has(failure) || this.#failures.size < MOST_FAILURES ? failure : OTHER;
    this.#failures.set(words, (this.#failures.get(words) ?? 0) + 1);
  }

  /** An attempt failed and is repeated. */
  retry(): void {
    this.#retried += 1;
  }

  get lost(): number {
    return this.#lost;
  }
  get retried(): number {
    return this.#retried;
  }
  /** Answers without a readable vote. */
  get noVote(): number {
    return this.#noVote;
  }

  stage(stage: BatchStage): SessionCount {
    return this.#stages[stage];
  }

  session(engineId: string): SessionCount {
    return this.#sessions.get(engineId) ?? nothing;
  }

  /** Most first. */
  failures(): readonly { readonly failure: string; readonly calls: number }[] {
    return [...this.#failures].map(([failure, calls]) => ({ failure, calls })).sort((a, b) => b.calls - a.calls);
  }
}

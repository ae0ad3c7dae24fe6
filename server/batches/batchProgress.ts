import type { BatchStage, EarlierTries, StoredBatch } from "@/server/store/batchRepository";
import type { Store } from "@/server/store/store";
import { type BatchShape, batchShape, type ShapedSession } from "./batchShape";
import { BatchTally } from "./batchTally";
import { isOver } from "./judgeQuestion";
import { Questions } from "./questions";
import { SessionRecord } from "./sessionRecord";

/** Calls that are read in one turn of the event loop. */
const PAGE_CALLS = 600;

export interface ProgressParts {
  readonly store: Pick<Store, "batches" | "prompts">;
  /** Resolves in a turn of the event loop in which a page may be read. */
  readonly turn: () => Promise<void>;
}

/**
 * The state of a batch: its order's sessions, and the outcomes of its calls, which are read from the disk page by page, since there may be
 * a hundred thousand.
 */
export class BatchProgress {
  readonly shape: BatchShape;
  /** The experts', worker by worker in turn, then the aggregator's. */
  readonly records: readonly SessionRecord[];
  readonly tally = new BatchTally();
  readonly questions: Questions;
  readonly #batch: StoredBatch;
  readonly #parts: ProgressParts;
  readonly #tries = new Map<string, Map<number, EarlierTries>>();
  readonly #page: number;
  readonly #hasReferences: boolean;
  #read = 0;

  constructor(batch: StoredBatch, parts: ProgressParts) {
    const { store } = parts;
    [this.#batch, this.#parts] = [batch, parts];
    this.shape = batchShape(batch);
    const stored = store.batches.sessions(batch.id);
    this.records = [...this.shape.workers.flat(), ...this.shape.aggregators].map((session) => new SessionRecord(session, stored));
    this.questions = new Questions({ batch, shape: this.shape, store });
    this.#page = Math.ceil(PAGE_CALLS / batch.order.ensemble.experts.length);
    this.#hasReferences = (store.prompts.get(batch.promptSetId)?.withReference ?? 0) > 0;
  }

  /** Questions whose calls are read, the basis of all counts; null: all are. */
  get questionsRead(): number | null {
    return this.#read < this.#batch.order.questions ? this.#read : null;
  }

  /** Calls of a model that were begun and have not ended, by position. */
  triesOf({ stage, model }: Pick<ShapedSession, "stage" | "model">): Map<number, EarlierTries> {
    const key = keyOf(stage, model);
    const tries = this.#tries.get(key) ?? new Map<number, EarlierTries>();
    this.#tries.set(key, tries);
    return tries;
  }

  /**
   * Continues reading, the first page at once, until all is read or `signal` aborts.
   * @throws the disk's errors; another call continues at the same place.
   */
  async read(signal: AbortSignal): Promise<void> {
    while (this.questionsRead !== null && !signal.aborted) {
      this.#readPage(this.#read, this.#read + this.#page);
      if (this.questionsRead !== null) await this.#parts.turn();
    }
  }

  /** Everything that may fail is done before anything is counted. */
  #readPage(from: number, before: number): void {
    const { id, promptSetId, endedAt } = this.#batch;
    const { batches, prompts } = this.#parts.store;
    if (endedAt === null) batches.loseAsked(id, from, before);
    const calls = batches.callsBetween(id, from, before);
    const references = this.#hasReferences ? prompts.references(promptSetId, from, before) : new Map<number, string>();
    for (const call of calls) {
      this.tally.read(call);
      if (!isOver(call)) this.triesOf(call).set(call.position, call);
    }
    this.questions.read(calls.filter(isOver), references);
    this.#read = before;
  }
}

const keyOf = (stage: BatchStage, model: string): string => `${stage} ${model}`;

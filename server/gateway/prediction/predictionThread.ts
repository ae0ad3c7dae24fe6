import { WorkerThread } from "@/server/threads/workerThread";
import type { HeldEncoders } from "./encoderFolders";
import type { Absence, Answer, ArtefactSource, Batch, Loaded, LoadTask, Question, Reply } from "./prediction";

/** Limits for word features, and for an encoder's embeddings. */
const bounds = {
  words: {
    /** Requests that are predicted together. */
    mostInBatch: 32,
    /** A batch takes milliseconds; a thread that takes this long is ended. */
    batchLimitMs: 2_000,
    /** Loading some megabytes takes less than a second; after ten the machine is considered stuck. */
    startLimitMs: 10_000,
  },
  // A long prompt takes a network of 150 million parameters some tenths of a second, and its file has 600 MB. The caller of a configuration
  // change waits 30 s for the answer.
  embeddings: { mostInBatch: 8, batchLimitMs: 20_000, startLimitMs: 25_000 },
} as const;

/** Time in addition to a search's own, for the messages to and from the thread. */
const wayMs = 5;

/** Inspects an artefact in a separate thread: what it is, or why it cannot be used. Rejects if the thread does not start. */
export async function inspectArtefact(artefact: ArtefactSource, encoders: HeldEncoders): Promise<Loaded> {
  const { thread, loaded } = await started({ artefacts: [artefact], encoders, serves: false });
  await thread.close();
  return loaded[0] ?? { hash: artefact.hash, problem: "The thread did not report on it.", absent: "not-loaded" };
}

type Thread = WorkerThread<LoadTask | Batch, readonly Loaded[] | Reply>;

async function started(
  task: Omit<LoadTask, "kind">,
  onEnd?: () => void,
): Promise<{ readonly thread: Thread; readonly loaded: readonly Loaded[] }> {
  const { startLimitMs } = task.encoders.list.length > 0 ? bounds.embeddings : bounds.words;
  const thread: Thread = new WorkerThread({ file: "predictionWorker", heapMb: 512, startLimitMs, keepsProcess: false }, onEnd);
  try {
    return { thread, loaded: (await thread.ask({ kind: "load", ...task }, { limitMs: startLimitMs })) as readonly Loaded[] };
  } catch {
    // The error is not reported: it might quote a prompt.
    await thread.close();
    throw new Error("The prediction thread did not start.");
  }
}

interface Pending {
  readonly question: Question;
  /** When searches for it must end; infinite if none is requested. */
  readonly searchedByMs: number;
  readonly settle: (outcome: Answer | Absence) => void;
  settled: boolean;
}

export interface ThreadOptions {
  readonly artefacts: readonly ArtefactSource[];
  readonly encoders: HeldEncoders;
  /** Questions that may wait. */
  readonly mostWaiting: number;
  /** Time limit of one answer from the question on; for a search alone the question states it. */
  readonly limitMs: number;
  /** Called for each completed batch. */
  readonly onBatch: () => void;
  /** Called if it ended by itself. */
  readonly onGone: () => void;
}

/**
 * A thread with some predictors. Questions that arrive during a batch wait for the next one, of 32 at most, or 8 if an encoder reads them:
 * a single request does not wait for others, and under load batches fill by themselves. A batch takes no more searches for configurations
 * than can be made before the first of them must end (Aragog, section 3.1), and nothing but searches: other predictions are awaited before
 * a request joins its queue, and do not wait for them.
 */
export class PredictionThread {
  readonly loaded: readonly Loaded[];
  readonly #thread: Thread;
  readonly #options: ThreadOptions;
  readonly #bounds: typeof bounds.words | typeof bounds.embeddings;
  #waiting: Pending[] = [];
  #underWay: readonly Pending[] | null = null;
  #scheduled = false;
  #closing = false;
  /** The duration of a search, as last reported by the thread. */
  #searchMs = 0;

  private constructor(thread: Thread, loaded: readonly Loaded[], options: ThreadOptions) {
    this.#thread = thread;
    this.loaded = loaded;
    this.#options = options;
    this.#bounds = loaded.some((one) => "kind" in one && one.encoder !== undefined) ? bounds.embeddings : bounds.words;
  }

  /** Resolves once it has loaded what can be loaded. Rejects if it does not start. */
  static async start(options: ThreadOptions): Promise<PredictionThread> {
    let onEnd = (): void => undefined;
    const { thread, loaded } = await started({ artefacts: options.artefacts, encoders: options.encoders, serves: true }, () => onEnd());
    const own = new PredictionThread(thread, loaded, options);
    onEnd = () => own.#gone();
    return own;
  }

  /** Whether it was started with all of these, whether or not they loaded. */
  has(hashes: ReadonlySet<string>): boolean {
    return [...hashes].every((hash) => this.loaded.some((one) => one.hash === hash));
  }

  /** Why the artefact cannot be used for answers; null if it can. */
  absence(hash: string): Absence | null {
    const found = this.loaded.find((one) => one.hash === hash);
    if (found === undefined) return "not-loaded";
    return "absent" in found ? found.absent : null;
  }

  /** Never rejects. */
  ask(question: Question): Promise<Answer | Absence> {
    if (this.#waiting.length >= this.#options.mostWaiting) return Promise.resolve("queue-full");
    return new Promise((resolve) => {
      const limit = setTimeout(() => pending.settle("late"), this.#limitMs(question));
      const pending: Pending = {
        question,
        searchedByMs: searches(question) ? performance.now() + question.searchMs : Number.POSITIVE_INFINITY,
        settled: false,
        settle: (outcome) => {
          if (pending.settled) return;
          pending.settled = true;
          clearTimeout(limit);
          resolve(outcome);
        },
      };
      this.#waiting.push(pending);
      this.#schedule();
    });
  }

  /** Ends the thread once all questions are answered. */
  close(): void {
    this.#closing = true;
    if (this.#underWay === null && this.#waiting.length === 0) void this.#thread.close();
  }

  /** The longest time for which a request is held. */
  #limitMs(question: Question): number {
    const { limitMs } = this.#options;
    return searches(question) ? Math.min(limitMs, question.searchMs + wayMs) : limitMs;
  }

  /** Runs after all questions of this turn of the event loop. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay !== null) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#underWay !== null) return;
    const open = this.#waiting.filter(({ settled }) => !settled);
    const nowMs = performance.now();
    const { batch, searchedByMs } = this.#batchOf(open, nowMs);
    const taken = new Set(batch);
    this.#waiting = open.filter((pending) => !taken.has(pending));
    if (batch.length === 0) {
      if (this.#closing) void this.#thread.close();
      return;
    }
    this.#underWay = batch;
    // A duration and not a time: threads do not share a clock.
    const searchMs = Math.max(0, searchedByMs - nowMs);
    this.#thread
      .ask({ kind: "batch", questions: batch.map(({ question }) => question), searchMs }, { limitMs: this.#bounds.batchLimitMs })
      .then(
        (reply) => this.#answered(reply as Reply),
        // The end of the thread is already handled elsewhere.
        () => undefined,
      );
  }

  /** The first waiting questions of one kind, and when the first search among them must end. */
  #batchOf(open: readonly Pending[], nowMs: number): { readonly batch: readonly Pending[]; readonly searchedByMs: number } {
    const batch: Pending[] = [];
    let searchedByMs = Number.POSITIVE_INFINITY;
    const [first] = open;
    const searching = first !== undefined && searches(first.question);
    const alike = open.filter(({ question }) => searches(question) === searching);
    for (const pending of alike.slice(0, this.#bounds.mostInBatch)) {
      const byMs = Math.min(searchedByMs, pending.searchedByMs);
      if (searching && batch.length > 0 && nowMs + (batch.length + 1) * this.#searchMs > byMs) break;
      searchedByMs = byMs;
      batch.push(pending);
    }
    return { batch, searchedByMs };
  }

  #answered({ answers, searchMs }: Reply): void {
    this.#searchMs = searchMs ?? this.#searchMs;
    const batch = this.#underWay ?? [];
    this.#underWay = null;
    this.#options.onBatch();
    for (const [at, pending] of batch.entries()) pending.settle(answers?.[at] ?? "failed");
    this.#send();
  }

  #gone(): void {
    for (const pending of [...(this.#underWay ?? []), ...this.#waiting]) pending.settle("failed");
    this.#waiting = [];
    this.#underWay = null;
    if (!this.#closing) this.#options.onGone();
  }
}

const searches = ({ wanted }: Question): boolean => wanted.some(({ configurations }) => configurations !== null);

import type { LlamaSequence, TokenQuery, TokenResult } from "./binding";

/** A request as the batch sees it. The batch calls its functions in the order in which they are listed. */
export interface BatchJob {
  readonly prompt: readonly number[];
  /** Ends it wherever it is. */
  readonly signal: AbortSignal;
  /** It has a sequence. */
  onStart(): void;
  /** Query of the distribution after the prompt's token at `index`; null: none. That of the last one is `query`. */
  promptQuery(index: number): TokenQuery | null;
  onPromptResult(index: number, answer: TokenResult): void;
  /** Query of the distribution of the next token. */
  query(): TokenQuery;
  /** Receives the result; returns the token that continues the text, or null at its end. */
  onResult(answer: TokenResult): number | null;
  /** It has left the batch: after its end, or because of `problem`. */
  onLeft(problem: Interruption | null): void;
}

/** Why a request left the batch before its end. */
export type Interruption =
  | { readonly kind: "cancelled" }
  /** The engine stops. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Batcher {
  /** Adds a request to the queue; false: the queue is full, or the engine stops. */
  add(job: BatchJob): boolean;
  /** Requests that have a sequence. */
  readonly running: number;
  readonly waiting: number;
  /** Tokens in the KV cache. */
  cachedTokens(): number;
  /** Takes no more requests, ends those that wait, and resolves when those that run have ended; after `graceMs` they are ended too. */
  stop(graceMs: number): Promise<void>;
}

export interface BatcherOptions {
  /** In the ascending order of the library's own numbers. */
  readonly sequences: readonly LlamaSequence[];
  /** Most tokens of one step. */
  readonly batchTokens: number;
  /** Most requests that wait. */
  readonly queue: number;
}

/** A request that has a sequence. */
interface Slot {
  readonly job: BatchJob;
  readonly sequence: LlamaSequence;
  /** The sequence's place among all. */
  readonly index: number;
  /** Tokens of the prompt that were evaluated. */
  done: number;
  /** The token to evaluate next; null: the prompt is not done. */
  next: number | null;
}

type StepInput = Parameters<LlamaSequence["controlledEvaluate"]>[0];

/**
 * Continuous batching: each step evaluates one token of every answer and as much of the waiting prompts, first come, first served, as the
 * step has room for. Requests join and leave between steps; those without a sequence wait in the order of their arrival. The step is built
 * here and not by the library, which splits answers over several steps where they are not asked for at the same moment.
 *
 * llama.cpp computes together only sequences whose numbers follow one another in the batch (`split_equal` of its batches); every gap and
 * every step back begins a computation of its own, which costs as much as a step. Requests therefore get the lowest free sequence, and a
 * step names its sequences in ascending order.
 */
export function createBatcher({ sequences, batchTokens, queue: queueLimit }: BatcherOptions): Batcher {
  const free = sequences.map((_, index) => index);
  const slots = new Set<Slot>();
  const queue: BatchJob[] = [];
  const idle: (() => void)[] = [];
  let isLooping = false;
  let isStopping = false;

  function add(job: BatchJob): boolean {
    if (isStopping || queue.length >= free.length + queueLimit) return false;
    queue.push(job);
    job.signal.addEventListener("abort", () => leaveQueue(job), { once: true });
    if (!isLooping) void loop();
    return true;
  }

  function leaveQueue(job: BatchJob): void {
    const at = queue.indexOf(job);
    if (at < 0) return;
    queue.splice(at, 1);
    job.onLeft({ kind: "cancelled" });
  }

  async function loop(): Promise<void> {
    isLooping = true;
    // Requests that arrive together share the first step.
    await new Promise((resolve) => setImmediate(resolve));
    for (admit(); slots.size > 0; admit()) {
      for (const slot of [...slots]) if (slot.job.signal.aborted) await release(slot, { kind: "cancelled" });
      await step();
      // Sockets are read between steps, so that a disconnected client is seen.
      await new Promise((resolve) => setImmediate(resolve));
    }
    isLooping = false;
    for (const resolve of idle.splice(0)) resolve();
  }

  function admit(): void {
    while (free.length > 0 && queue.length > 0) {
      const [job, index] = [queue.shift(), Math.min(...free)];
      const sequence = sequences[index];
      if (job === undefined || sequence === undefined) return;
      free.splice(free.indexOf(index), 1);
      slots.add({ job, sequence, index, done: 0, next: null });
      job.onStart();
    }
  }

  async function step(): Promise<void> {
    let tokensLeft = batchTokens - [...slots].filter(({ next }) => next !== null).length;
    const parts: { readonly slot: Slot; readonly input: StepInput }[] = [];
    for (const slot of slots) {
      const input = slot.next === null ? promptPart(slot, tokensLeft) : answerPart(slot, slot.next);
      if (slot.next === null) tokensLeft -= input.length;
      if (input.length > 0) parts.push({ slot, input });
    }
    parts.sort((a, b) => a.slot.index - b.slot.index);
    await Promise.all(parts.map(({ slot, input }) => evaluate(slot, input)));
  }

  async function evaluate(slot: Slot, input: StepInput): Promise<void> {
    try {
      deliver(slot, input.length, await slot.sequence.controlledEvaluate(input));
    } catch (error) {
      await release(slot, { kind: "failed", error });
      return;
    }
    if (slot.next === null && slot.done === slot.job.prompt.length) await release(slot, null);
  }

  function deliver(slot: Slot, evaluated: number, answers: Awaited<ReturnType<LlamaSequence["controlledEvaluate"]>>): void {
    const { job } = slot;
    if (job.signal.aborted || !slots.has(slot)) return;
    const last = answers[evaluated - 1]?.next;
    if (slot.next === null) {
      const from = slot.done;
      slot.done += evaluated;
      answers.forEach((answer, offset) => {
        const index = from + offset;
        if (answer !== undefined && index < job.prompt.length - 1) job.onPromptResult(index, answer.next);
      });
      if (slot.done < job.prompt.length) return;
    }
    if (last === undefined) throw new Error("The model gave no answer for the last token.");
    slot.next = job.onResult(last);
  }

  async function release(slot: Slot, problem: Interruption | null): Promise<void> {
    if (!slots.delete(slot)) return;
    slot.job.onLeft(problem);
    await slot.sequence.clearHistory();
    free.push(slot.index);
  }

  return {
    add,
    get running() {
      return slots.size;
    },
    get waiting() {
      return queue.length;
    },
    cachedTokens: () => [...slots].reduce((sum, { sequence }) => sum + sequence.nextTokenIndex, 0),
    async stop(graceMs) {
      isStopping = true;
      for (const job of queue.splice(0)) job.onLeft({ kind: "stopped" });
      if (!isLooping) return;
      const ended = new Promise<void>((resolve) => idle.push(resolve));
      const timer = setTimeout(() => {
        for (const slot of [...slots]) void release(slot, { kind: "stopped" });
      }, graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

function promptPart({ job, done }: Slot, tokensLeft: number): StepInput {
  const part = job.prompt.slice(done, done + tokensLeft);
  return part.map((token, offset) => {
    const index = done + offset;
    const query = index === job.prompt.length - 1 ? job.query() : job.promptQuery(index);
    return query === null ? token : [token, { generateNext: query }];
  });
}

const answerPart = ({ job }: Slot, token: number): StepInput => [[token, { generateNext: job.query() }]];

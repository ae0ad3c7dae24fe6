import { askModel, type CallOutcome } from "./askModel";
import type { CallJournal } from "./callJournal";
import type { Upstream } from "./upstream";

export { askModel, type CallOutcome } from "./askModel";
export { type CallJournal, createCallJournal } from "./callJournal";

/** Calls begun in one turn of the event loop. */
const MOST_A_TURN = 16;

/** Before another attempt at a call that failed so often. */
export const retryMs = (failures: number): number => (failures === 0 ? 0 : Math.min(30_000, 500 * 2 ** (failures - 1)));

/** What follows an attempt. */
export type NextStep<Row> =
  /** The call has ended. */
  | { readonly kind: "end"; readonly row: Row }
  /** It is repeated; `alone`: when no other is in flight. */
  | { readonly kind: "again"; readonly row: Row; readonly afterMs: number; readonly alone?: boolean }
  /** It was aborted: it stays recorded as asked, and counts as lost when the journal is read again. */
  | { readonly kind: "putBack" };

/** One attempt at a call. Either `settle` or `cancel` is called, once. */
export interface Attempt<Row> {
  readonly upstream: Upstream;
  /** A chat request without model and stream. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  /** Left out: not asked for. */
  readonly logProbabilities?: boolean;
  /** Of the wall; left out: no limit. */
  readonly timeoutSeconds?: number;
  /** Recorded before the call is made. */
  readonly asked: Row;
  /** Counts the outcome, and frees the attempt's resources. */
  settle(outcome: CallOutcome): NextStep<Row>;
  /** It could not be recorded, so it was not made. */
  cancel(): void;
}

export type Admission<Row> =
  | { readonly kind: "attempt"; readonly attempt: Attempt<Row> }
  /** Work that takes no call. */
  | { readonly kind: "local"; run(signal: AbortSignal): Promise<Row> }
  /** Not yet. */
  | { readonly kind: "held"; readonly waitMs: number }
  /** It can cost more than is left. */
  | { readonly kind: "over-cap"; readonly mostUsd: number };

/** Calls that share upstreams and slots. */
export interface CallSource<Call, Row> {
  /** The next call, which counts as in flight from now on; null: there is none now, or no slot is free. */
  take(): Call | null;
  admit(call: Call): Admission<Row>;
  /** A call that was taken must be made after a while, or when no other is in flight. */
  putBack(call: Call, afterMs: number, alone: boolean): void;
  /**
   * A call that was taken has ended, and that is on disk.
   * @throws: it is repeated after `writeLeft` of the journal.
   */
  ended(call: Call, row: Row): void;
}

export interface SchedulerParts<Call, Row> {
  readonly sources: readonly CallSource<Call, Row>[];
  readonly journal: CallJournal<Row>;
  /** Aborts the calls in flight. */
  readonly signal: AbortSignal;
  readonly canBegin: () => boolean;
  /** Whether every call has ended. */
  readonly isOver: () => boolean;
  readonly events: {
    /** Every call has ended. */
    done?(): void;
    /** An attempt has ended, whatever its outcome. */
    ended?(): void;
    /** Nothing is in flight, and the cheapest call can cost more than the rest of the cap. */
    capReached?(mostUsd: number): void;
    /** Most likely the disk. */
    failed(error: unknown): void;
  };
}

/**
 * Begins calls as slots, pace and budget allow, a few in each turn of the event loop, and records each outcome: an attempt is on disk before it
 * is made, and counts once its outcome is on disk. Where a write fails nothing is lost: a call that was not made is there to be taken again, and
 * the outcome of one that was made waits in the journal.
 */
export function createCallScheduler<Call, Row>(parts: SchedulerParts<Call, Row>) {
  const { sources, journal, signal, canBegin, isOver, events } = parts;
  const waiting: (Call | null)[] = sources.map(() => null);
  const underWay = new Set<Promise<void>>();
  let inFlight = 0;
  let first = 0;
  let wake: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;

  function soon(): void {
    if (canBegin()) turn ??= setImmediate(pump);
  }

  function pump(): void {
    turn = undefined;
    clearTimeout(wake);
    try {
      beginAll();
    } catch (error) {
      events.failed(error);
    }
  }

  /** Starts the possible calls, over all sources. */
  function beginAll(): void {
    const waits: number[] = [];
    const dear: number[] = [];
    let begun = 0;
    // Each time another source is first: under a limit of calls per minute the first would take them all.
    first += 1;
    for (const offset of sources.keys()) {
      const at = (first + offset) % sources.length;
      const source = sources[at];
      while (source !== undefined && canBegin() && begun < MOST_A_TURN) {
        const call = waiting[at] ?? source.take();
        if (call === null) break;
        waiting[at] = null;
        const admission = admit(call, source);
        if (admission.kind === "attempt" || admission.kind === "local") {
          begin(call, source, admission);
          begun += 1;
          continue;
        }
        if (canBegin()) waiting[at] = call;
        else source.putBack(call, 0, false);
        if (admission.kind === "held") waits.push(admission.waitMs);
        else dear.push(admission.mostUsd);
        break;
      }
    }
    if (!canBegin()) return;
    if (isOver()) events.done?.();
    else if (begun >= MOST_A_TURN) soon();
    else if (waits.length > 0) wake = setTimeout(soon, Math.min(...waits));
    else if (dear.length > 0 && underWay.size === 0) events.capReached?.(Math.min(...dear));
  }

  function admit(call: Call, source: CallSource<Call, Row>): Admission<Row> {
    try {
      return source.admit(call);
    } catch (error) {
      source.putBack(call, 0, false);
      throw error;
    }
  }

  function begin(call: Call, source: CallSource<Call, Row>, admission: Extract<Admission<Row>, { kind: "attempt" | "local" }>): void {
    follow(admission.kind === "attempt" ? make(call, source, admission.attempt) : work(call, source, admission));
  }

  async function make(call: Call, source: CallSource<Call, Row>, attempt: Attempt<Row>): Promise<void> {
    inFlight += 1;
    try {
      try {
        await journal.save(attempt.asked);
      } catch (error) {
        attempt.cancel();
        source.putBack(call, 0, false);
        throw error;
      }
      await record(call, source, attempt.settle(await ask(attempt, signal)));
    } finally {
      inFlight -= 1;
    }
  }

  async function record(call: Call, source: CallSource<Call, Row>, step: NextStep<Row>): Promise<void> {
    if (step.kind === "end") return journal.end(step.row, () => source.ended(call, step.row));
    if (step.kind === "putBack") return source.putBack(call, 0, false);
    try {
      await journal.save(step.row);
    } finally {
      source.putBack(call, step.afterMs, step.alone ?? false);
    }
  }

  async function work(call: Call, source: CallSource<Call, Row>, { run }: Extract<Admission<Row>, { kind: "local" }>): Promise<void> {
    let row: Row;
    try {
      row = await run(signal);
    } catch (error) {
      source.putBack(call, 0, false);
      throw error;
    }
    await journal.end(row, () => source.ended(call, row));
  }

  function follow(promise: Promise<void>): void {
    const tracked: Promise<void> = promise.catch(events.failed).finally(() => {
      underWay.delete(tracked);
      soon();
      events.ended?.();
    });
    underWay.add(tracked);
  }

  return {
    /** Starts the possible calls, in the next turn. */
    soon,
    /** Waits for a call that was started elsewhere, and looks for more after it. */
    follow,
    inFlight: () => inFlight,
    /** What waits for its time is not made now. */
    hold(): void {
      clearTimeout(wake);
      for (const [at, call] of waiting.entries()) {
        waiting[at] = null;
        if (call !== null) sources[at]?.putBack(call, 0, false);
      }
    },
    /** Starts no more calls; resolves when nothing is in flight. */
    async close(): Promise<void> {
      clearTimeout(wake);
      clearImmediate(turn);
      await Promise.all(underWay);
    },
  };
}

/** Asks within the attempt's limit. Never rejects. */
async function ask<Row>(
  { upstream, body, stream, logProbabilities, timeoutSeconds }: Attempt<Row>,
  signal: AbortSignal,
): Promise<CallOutcome> {
  if (timeoutSeconds === undefined) return askModel({ upstream, body, stream, logProbabilities, signal });
  const limit = new AbortController();
  const cut = (): void => limit.abort();
  // Cleared when it has ended: otherwise thousands of timers would remain.
  const timer = setTimeout(cut, timeoutSeconds * 1000);
  signal.addEventListener("abort", cut, { once: true });
  if (signal.aborted) cut();
  try {
    const outcome = await askModel({ upstream, body, stream, logProbabilities, signal: limit.signal });
    return outcome.kind === "aborted" && !signal.aborted ? { kind: "timeout", reason: "timed out", mayCost: outcome.mayCost } : outcome;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
  }
}

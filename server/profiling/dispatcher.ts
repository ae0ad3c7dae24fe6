import type { Budget } from "./budget";
import type { CallBook } from "./callBook";
import type { Caller } from "./caller";
import type { CallLedger, LedgerCall } from "./callLedger";
import { callRows } from "./callRows";
import type { Lane } from "./lane";
import type { Reading } from "./measures/reading";
import type { Pace } from "./pace";
import { type PreparedCall, type PrepareParts, prepareCall } from "./prepareCall";

/** Where a lane has nowhere to be asked, places are looked for again and again. */
export const REFRESH_MS = 1_000;

/** Calls begun in one turn of the event loop. */
const MOST_A_TURN = 16;

/** Why a call is not begun yet: for a time, or since it could cost more than is left. */
type Held = { readonly waitMs: number } | { readonly mostUsd: number };

export interface DispatcherParts extends PrepareParts {
  readonly lanes: readonly Lane[];
  readonly ledger: CallLedger;
  readonly book: CallBook;
  readonly caller: Caller;
  readonly budget: Budget;
  readonly pace: Pace;
  /** Cuts what is under way. */
  readonly signal: AbortSignal;
  readonly canBegin: () => boolean;
  /** Waits for what was begun, and looks for more after it. */
  readonly follow: (work: Promise<void>) => void;
  readonly isIdle: () => boolean;
  readonly told: {
    /** Every call is over. */
    done(): void;
    /** Nothing can be begun: the cheapest call can cost more than is left. */
    capReached(mostUsd: number): void;
    /** Texts that are needed are gone. */
    textsGone(): void;
    /** A lane may be down. */
    look(lane: Lane): void;
    stumbled(error: unknown): void;
  };
}

/** Begins calls of a job as places, pace and budget allow, a few in each turn of the event loop. */
export function createDispatcher(parts: DispatcherParts) {
  const { profile, shape, lanes, ledger, book, caller, budget, pace, canBegin, follow, told } = parts;
  const rows = callRows(profile);
  const waiting: (PreparedCall | null)[] = shape.lanes.map(() => null);
  let firstLane = 0;
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
      told.stumbled(error);
    }
  }

  /** Begins what can be begun, over all lanes. */
  function beginAll(): void {
    const held: Held[] = [];
    let begun = 0;
    // Another lane comes first each time: under a limit of calls per minute the first would take them all.
    firstLane += 1;
    for (const offset of shape.lanes.keys()) {
      const at = (firstLane + offset) % shape.lanes.length;
      while (canBegin() && begun < MOST_A_TURN) {
        const work = waiting[at] ?? take(at);
        if (work === null) break;
        waiting[at] = null;
        const why = begin(work, at);
        if (why === null) begun += 1;
        else {
          if (canBegin()) {
            waiting[at] = work;
            held.push(why);
          } else book.putBack(work.call);
          break;
        }
      }
    }
    if (!canBegin()) return;
    const waits = held.flatMap((one) => ("waitMs" in one ? one.waitMs : []));
    const dear = held.flatMap((one) => ("mostUsd" in one ? one.mostUsd : []));
    if (ledger.isOver) told.done();
    else if (begun >= MOST_A_TURN) soon();
    else if (waits.length > 0) wake = setTimeout(soon, Math.min(...waits));
    else if (dear.length > 0 && parts.isIdle() && !book.isWaiting) told.capReached(Math.min(...dear));
  }

  function take(at: number): PreparedCall | null {
    const call = ledger.take(at);
    if (call === null) return null;
    let work: PreparedCall | null = null;
    try {
      work = prepareCall(call, parts);
      if (work === null) told.textsGone();
    } finally {
      if (work === null) book.putBack(call);
    }
    return work;
  }

  /** Begins one call; null: it is under way. */
  function begin(work: PreparedCall, at: number): Held | null {
    const lane = lanes[at];
    if (work.kind !== "call" || lane === undefined) {
      if (work.kind === "known") follow(book.over(work.call, rows.read(work.call, work.reading)));
      if (work.kind === "local") follow(runHere(work.call, work.run));
      return null;
    }
    const now = performance.now();
    told.look(lane);
    const standing = canBegin() ? lane.pick(now) : null;
    if (standing === null) return { waitMs: lane.waitMs(now) ?? REFRESH_MS };
    const waitMs = pace.waitMs(now);
    if (waitMs > 0) return { waitMs };
    const mostUsd = lane.usdAtMost(work.most);
    if (!budget.reserve(mostUsd)) return { mostUsd };
    pace.made(now);
    follow(caller.make(work, mostUsd, lane, standing).then(() => told.look(lane)));
    return null;
  }

  /** A reading that takes no call. */
  async function runHere(call: LedgerCall, run: (signal: AbortSignal) => Promise<Reading>): Promise<void> {
    let reading: Reading | null = null;
    try {
      reading = await run(parts.signal);
    } finally {
      if (reading === null) book.putBack(call);
    }
    await book.over(call, rows.read(call, reading));
  }

  return {
    /** Begins what can be begun, in the next turn. */
    soon,
    /** What waits for its time is not made now. */
    hold(): void {
      clearTimeout(wake);
      for (const [at, work] of waiting.entries()) {
        if (work !== null) book.putBack(work.call);
        waiting[at] = null;
      }
    },
    close(): void {
      clearTimeout(wake);
      clearImmediate(turn);
    },
  };
}

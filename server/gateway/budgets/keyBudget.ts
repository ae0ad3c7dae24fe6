import { z } from "zod";
import { type KeyLimits, keyLimitNameSchema } from "@/server/contracts/gateway/gatewayKeys";
import { type KeyLimit, type KeyLimitName, keyLimits } from "@/solver/wording/keyLimits";
import { calendarWindow } from "./calendarWindow";

/** Tokens and money of a request. Whole numbers, so that sums and differences are exact. */
export interface Spend {
  readonly tokens: number;
  /** Billionths of a USD. */
  readonly nanoUsd: number;
}

export const nothing: Spend = { tokens: 0, nanoUsd: 0 };
export const sum = (one: Spend, other: Spend): Spend => ({ tokens: one.tokens + other.tokens, nanoUsd: one.nanoUsd + other.nanoUsd });
export const nanoPerUsd = 1e9;

/** A limit with its use in the present window, in tokens or billionths of a USD. */
export interface LimitState extends KeyLimit {
  readonly most: number;
  readonly used: number;
  readonly reserved: number;
  readonly resetsAtMs: number;
  /** Whether its use has reached the share to warn at. */
  readonly isNear: boolean;
}

/** The limit that refuses a request: of those that do, the one whose window ends last. */
export interface BudgetRefusal extends LimitState {
  readonly needed: number;
}

const windowSchema = z.object({ startMs: z.number(), used: z.int().nonnegative(), warned: z.boolean() });
type Window = z.infer<typeof windowSchema>;

/** What is stored of a budget. */
export const storedBudgetSchema = z.object({
  latestMs: z.number(),
  reserved: z.object({ tokens: z.int().nonnegative(), nanoUsd: z.int().nonnegative() }),
  windows: z.partialRecord(keyLimitNameSchema, windowSchema),
});
export type StoredBudget = z.infer<typeof storedBudgetSchema>;

/**
 * The limits of one key and their use. A request reserves what it may use and settles with what it used. Use counts in the window in which it
 * is settled, so that a window's use is that of the records of its time. What is used and reserved together exceeds a limit at most by what
 * requests in flight use beyond their reservations. Times are Unix milliseconds; a time before the latest counts as the latest, so that a
 * clock that goes back opens no window again.
 */
export class KeyBudget {
  #limits: KeyLimits;
  #latestMs = 0;
  #reserved: Spend = nothing;
  readonly #windows = new Map<KeyLimitName, Window>();

  constructor(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** Changes the limits. Each keeps its use of the present window, also one that is removed and comes back. */
  set limits(limits: KeyLimits) {
    this.#limits = limits;
  }

  /**
   * Reserves an amount; returns null, or the limit that has no room for it. Reserves nothing then.
   * @throws RangeError if an amount is not a safe integer of 0 or more: no sum with it would ever be right again.
   */
  reserve(spend: Spend, nowMs: number): BudgetRefusal | null {
    for (const amount of [spend.tokens, spend.nanoUsd])
      if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`A budget cannot reserve ${amount}.`);
    const short = this.states(nowMs)
      .map((state) => ({ ...state, needed: amountOf(spend, state) }))
      .filter(({ most, used, reserved, needed }) => used + reserved >= most || used + reserved + needed > most);
    if (short.length > 0) return short.reduce((last, state) => (state.resetsAtMs > last.resetsAtMs ? state : last));
    this.#reserved = sum(this.#reserved, spend);
    return null;
  }

  /**
   * Replaces a reservation by the use.
   * @returns the limits whose use has reached the share to warn at for the first time in their windows.
   */
  settle(reserved: Spend, used: Spend, nowMs: number): readonly LimitState[] {
    this.#reserved = sum(this.#reserved, { tokens: -reserved.tokens, nanoUsd: -reserved.nanoUsd });
    const warnings: LimitState[] = [];
    for (const limit of this.states(nowMs)) {
      const window = this.#windowOf(limit);
      window.used += amountOf(used, limit);
      if (window.warned || !this.#isNear(window.used, limit.most)) continue;
      window.warned = true;
      warnings.push({ ...limit, used: window.used, isNear: true });
    }
    return warnings;
  }

  /** Every limit with its use. */
  states(nowMs: number): readonly LimitState[] {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    return keyLimits.flatMap((limit) => {
      const given = this.#limits[limit.name];
      if (given === undefined) return [];
      const most = limit.unit === "usd" ? Math.round(given * nanoPerUsd) : given;
      const { endMs } = calendarWindow(limit.period, this.#latestMs);
      const { used } = this.#windowOf(limit);
      const reserved = amountOf(this.#reserved, limit);
      return [{ ...limit, most, used, reserved, resetsAtMs: endMs, isNear: this.#isNear(used, most) }];
    });
  }

  /** What a later start restores. */
  get stored(): StoredBudget {
    return { latestMs: this.#latestMs, reserved: this.#reserved, windows: Object.fromEntries(this.#windows) };
  }

  /** Takes over what was stored. What was reserved then was in flight when the process ended, and counts as used. */
  restore({ latestMs, reserved, windows }: StoredBudget): void {
    this.#latestMs = Math.max(this.#latestMs, latestMs);
    for (const limit of keyLimits) {
      const window = windows[limit.name];
      if (window === undefined) continue;
      this.#windows.set(limit.name, { ...window, used: window.used + amountOf(reserved, limit) });
    }
  }

  #isNear(used: number, most: number): boolean {
    const { warnAt } = this.#limits;
    return warnAt !== undefined && used >= warnAt * most;
  }

  #windowOf({ name, period }: KeyLimit): Window {
    const { startMs } = calendarWindow(period, this.#latestMs);
    const known = this.#windows.get(name);
    if (known !== undefined && known.startMs >= startMs) return known;
    const opened = { startMs, used: 0, warned: false };
    this.#windows.set(name, opened);
    return opened;
  }
}

/** Whether every window of a stored budget had ended by a time, so that nothing of it counts any more. @param nowMs Unix milliseconds. */
export const isOver = ({ windows }: StoredBudget, nowMs: number): boolean =>
  keyLimits.every(({ name, period }) => {
    const window = windows[name];
    return window === undefined || window.startMs < calendarWindow(period, nowMs).startMs;
  });

export const amountOf = (spend: Spend, { unit }: Pick<KeyLimit, "unit">): number => (unit === "usd" ? spend.nanoUsd : spend.tokens);

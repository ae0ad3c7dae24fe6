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
const noUse: BudgetUse = { reserved: nothing, windows: {} };

/** A limit with its use in the present window, in tokens or billionths of a USD. */
export interface LimitState extends KeyLimit {
  /** What this gateway may let its key use together with the others: the limit, or this gateway's share of what was left of it. */
  readonly most: number;
  /** The limit, where `most` is a share. */
  readonly whole?: number;
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

const budgetUseSchema = z.object({
  reserved: z.object({ tokens: z.int().nonnegative(), nanoUsd: z.int().nonnegative() }),
  windows: z.partialRecord(keyLimitNameSchema, windowSchema.pick({ startMs: true, used: true })),
});
/** What gateways use of the limits of a key. */
export type BudgetUse = z.infer<typeof budgetUseSchema>;

/** What is stored of a budget. */
export const storedBudgetSchema = budgetUseSchema.extend({
  latestMs: z.number(),
  windows: z.partialRecord(keyLimitNameSchema, windowSchema),
  /** What other gateways used, as last seen. Absent: there are none. */
  others: budgetUseSchema.optional(),
  /** The start of the gateway under which this use is posted for others to see. Absent: it is not shared. */
  postedBy: z.string().optional(),
  /** The use of earlier starts that is to be posted. */
  unposted: z.array(z.object({ postedBy: z.string(), use: budgetUseSchema })).optional(),
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
  #others: BudgetUse | null = null;
  /** When the others were seen, and what this gateway had used and reserved then. */
  #seen: { readonly atMs: number; readonly own: BudgetUse } = { atMs: 0, own: noUse };

  constructor(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** Changes the limits. Each keeps its use of the present window, also one that is removed and comes back. */
  set limits(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** What this gateway itself uses now. */
  get own(): BudgetUse {
    const windows = [...this.#windows].map(([name, { startMs, used }]) => [name, { startMs, used }]);
    return { reserved: this.#reserved, windows: Object.fromEntries(windows) };
  }

  /** What other gateways use, seen now. */
  set others(use: BudgetUse) {
    for (const window of Object.values(use.windows)) this.#latestMs = Math.max(this.#latestMs, window.startMs);
    this.#others = use;
    this.#seen = { atMs: this.#latestMs, own: this.own };
  }

  /**
   * Reserves an amount; returns null, or the limit that has no room for it. Reserves nothing then.
   * @param gateways that share what is left of the limits; 1: this one may use all of it.
   * @throws RangeError if an amount is not a safe integer of 0 or more: no sum with it would ever be right again.
   */
  reserve(spend: Spend, nowMs: number, gateways = 1): BudgetRefusal | null {
    const refusal = this.refusal(spend, nowMs, gateways);
    if (refusal === null) this.force(spend);
    return refusal;
  }

  /** Reserves an amount that another decided on. */
  force(spend: Spend): void {
    this.#reserved = sum(this.#reserved, spend);
  }

  /** The limit that has no room for an amount; null if each has. @throws RangeError as `reserve`. */
  refusal(spend: Spend, nowMs: number, gateways = 1): BudgetRefusal | null {
    assertWhole(spend);
    const short = this.states(nowMs, gateways)
      .map((state) => ({ ...state, needed: amountOf(spend, state) }))
      .filter(({ most, used, reserved, needed }) => used + reserved >= most || used + reserved + needed > most);
    return short.length === 0 ? null : short.reduce((last, state) => (state.resetsAtMs > last.resetsAtMs ? state : last));
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
      const amount = amountOf(used, limit);
      window.used += amount;
      if (window.warned || !this.#isNear(limit.used + amount, limit.most)) continue;
      window.warned = true;
      warnings.push({ ...limit, used: limit.used + amount, isNear: true });
    }
    return warnings;
  }

  /** Changes the use of the present windows, by an amount that may be negative. */
  change(change: Spend, nowMs: number): void {
    for (const limit of this.states(nowMs)) {
      const window = this.#windowOf(limit);
      window.used = Math.max(0, window.used + amountOf(change, limit));
    }
  }

  /** Every limit with its use. @param gateways as for `reserve`. */
  states(nowMs: number, gateways = 1): readonly LimitState[] {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    return keyLimits.flatMap((limit) => {
      const given = this.#limits[limit.name];
      if (given === undefined) return [];
      const whole = limit.unit === "usd" ? Math.round(given * nanoPerUsd) : given;
      const { startMs, endMs } = calendarWindow(limit.period, this.#latestMs);
      const others = this.#othersIn(limit, startMs);
      const used = this.#windowOf(limit).used + others.used;
      const reserved = amountOf(this.#reserved, limit) + others.reserved;
      const left = Math.max(0, whole - others.used - others.reserved - others.ownThen);
      const most = whole - Math.floor((left * (gateways - 1)) / gateways);
      const state = { ...limit, most, used, reserved, resetsAtMs: endMs, isNear: this.#isNear(used, whole) };
      return [most === whole ? state : { ...state, whole }];
    });
  }

  /** What others use in a window of a limit, and what this gateway had used and reserved in it when they were seen. */
  #othersIn(limit: KeyLimit, startMs: number): { readonly used: number; readonly reserved: number; readonly ownThen: number } {
    const usedIn = ({ windows: { [limit.name]: window } }: BudgetUse): number => (window?.startMs === startMs ? window.used : 0);
    const { atMs, own } = this.#seen;
    // What was reserved before the window began is used or given back by now.
    const isSeen = this.#others !== null && atMs >= startMs;
    if (!isSeen || this.#others === null) return { used: 0, reserved: 0, ownThen: 0 };
    const ownThen = usedIn(own) + amountOf(own.reserved, limit);
    return { used: usedIn(this.#others), reserved: amountOf(this.#others.reserved, limit), ownThen };
  }

  /** What a later start restores. */
  get stored(): StoredBudget {
    const others = this.#others === null ? {} : { others: this.#others };
    return { latestMs: this.#latestMs, reserved: this.#reserved, windows: Object.fromEntries(this.#windows), ...others };
  }

  /** Takes over what was stored. What was reserved then was in flight when the process ended, and counts as used. */
  restore({ latestMs, reserved, windows, others }: StoredBudget): void {
    this.#latestMs = Math.max(this.#latestMs, latestMs);
    for (const limit of keyLimits) {
      const window = windows[limit.name];
      if (window === undefined) continue;
      this.#windows.set(limit.name, { ...window, used: window.used + amountOf(reserved, limit) });
    }
    if (others !== undefined) this.others = asUsed(others);
  }

  /**
   * Gives away what this gateway itself used, as of others from now on.
   * @returns what it used, in which nothing is reserved.
   */
  giveAway(): BudgetUse {
    const given = asUsed(this.own);
    this.#reserved = nothing;
    for (const window of this.#windows.values()) window.used = 0;
    this.others = sumOfUse(this.#others ?? noUse, given);
    return given;
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

/** @throws RangeError if an amount is not a safe integer of 0 or more. */
export function assertWhole({ tokens, nanoUsd }: Spend): void {
  for (const amount of [tokens, nanoUsd])
    if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`A budget cannot reserve ${amount}.`);
}

/** With what is reserved counted as used: in each window, since nobody knows in which it will be. */
function asUsed({ reserved, windows }: BudgetUse): BudgetUse {
  const used = keyLimits.flatMap((limit) => {
    const { [limit.name]: window } = windows;
    return window === undefined ? [] : [[limit.name, { startMs: window.startMs, used: window.used + amountOf(reserved, limit) }]];
  });
  return { reserved: nothing, windows: Object.fromEntries(used) };
}

/** The use of two; of two windows of one limit the later one counts. */
function sumOfUse(one: BudgetUse, other: BudgetUse): BudgetUse {
  const windows = keyLimits.flatMap(({ name }) => {
    const [first, second] = [one.windows[name], other.windows[name]];
    const startMs = Math.max(first?.startMs ?? 0, second?.startMs ?? 0);
    const used = [first, second].reduce((all, window) => all + (window?.startMs === startMs ? window.used : 0), 0);
    return first === undefined && second === undefined ? [] : [[name, { startMs, used }]];
  });
  return { reserved: sum(one.reserved, other.reserved), windows: Object.fromEntries(windows) };
}

/** Whether every window of a stored budget had ended by a time, so that nothing of it counts any more. @param nowMs Unix milliseconds. */
export const isOver = ({ windows, others }: StoredBudget, nowMs: number): boolean =>
  keyLimits.every(({ name, period }) =>
    [windows[name], others?.windows[name]].every(
      (window) => window === undefined || window.startMs < calendarWindow(period, nowMs).startMs,
    ),
  );

export const amountOf = (spend: Spend, { unit }: Pick<KeyLimit, "unit">): number => (unit === "usd" ? spend.nanoUsd : spend.tokens);

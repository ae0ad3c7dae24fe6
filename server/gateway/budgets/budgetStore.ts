import { z } from "zod";
import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { type BudgetRefusal, isOver, KeyBudget, type LimitState, type Spend, type StoredBudget, storedBudgetSchema } from "./keyBudget";

/** Reserves an amount of the budget of a key, which its SHA-256 names. */
export type Reserve = (
  sha256: string,
  spend: Spend,
) => Promise<{ readonly refusal: BudgetRefusal | null; readonly states: readonly LimitState[] }>;

/** Replaces a reservation by the use; returns the limits to warn of. */
export type Settle = (sha256: string, reserved: Spend, used: Spend) => Promise<readonly LimitState[]>;

const storedSchema = z.record(z.string(), storedBudgetSchema);

interface BudgetStoreOptions {
  /** The limits of a key now; undefined if it is not configured any more or has none. */
  readonly limitsOf: (sha256: string) => KeyLimits | undefined;
  /** Unix milliseconds; it may go back. */
  readonly nowMs: () => number;
}

/** Where the use of keys' limits is counted: in this process alone, or in several gateways together. */
export interface LimitStore {
  readonly reserve: Reserve;
  readonly settle: Settle;
  /** The limits of a key with their use, as far as this gateway knows it. */
  states(sha256: string): readonly LimitState[];
  /** Changes the use of a key's present windows, by an amount that may be negative. */
  change(sha256: string, change: Spend): void;
  /** The use as text, for `restore` of a later start. */
  readonly text: string;
  /** Takes over the use of an earlier start. @throws if the text is not one of them. */
  restore(text: string): void;
}

/** The budgets of all keys in this process. */
export class BudgetStore implements LimitStore {
  readonly #options: BudgetStoreOptions;
  readonly #budgets = new Map<string, { readonly budget: KeyBudget; limits: KeyLimits }>();
  #restored: Readonly<Record<string, StoredBudget>> = {};

  constructor(options: BudgetStoreOptions) {
    this.#options = options;
  }

  readonly reserve: Reserve = async (sha256, spend) => {
    const nowMs = this.#options.nowMs();
    const budget = this.of(sha256);
    const refusal = budget.reserve(spend, nowMs);
    return { refusal, states: budget.states(nowMs) };
  };

  readonly settle: Settle = async (sha256, reserved, used) => this.of(sha256).settle(reserved, used, this.#options.nowMs());

  change(sha256: string, change: Spend): void {
    this.of(sha256).change(change, this.#options.nowMs());
  }

  states(sha256: string): readonly LimitState[] {
    return this.of(sha256).states(this.#options.nowMs());
  }

  /**
   * The budgets as text, for `restore` of a later start. Those of keys without limits are kept until their windows have ended, since a
   * configuration may bring the limits back.
   */
  get text(): string {
    return this.textWith(() => ({}));
  }

  /** The same with further fields for each budget that is in use. */
  textWith(fields: (sha256: string) => Partial<StoredBudget>): string {
    const { limitsOf, nowMs } = this.#options;
    const used = [...this.#budgets].map(([sha256, { budget }]) => [sha256, { ...budget.stored, ...fields(sha256) }] as const);
    const all = [...Object.entries(this.#restored), ...used];
    return JSON.stringify(Object.fromEntries(all.filter(([sha256, stored]) => limitsOf(sha256) !== undefined || !isOver(stored, nowMs()))));
  }

  restore(text: string): void {
    this.#restored = storedSchema.parse(JSON.parse(text));
  }

  /** The budgets that are restored and not in use yet. */
  get restored(): Readonly<Record<string, StoredBudget>> {
    return this.#restored;
  }

  /** The budgets that requests of this process have used, by the SHA-256 of their keys. */
  get used(): Iterable<readonly [sha256: string, KeyBudget]> {
    return [...this.#budgets].map(([sha256, { budget }]) => [sha256, budget] as const);
  }

  /** The budget of a key, with what was restored of it. */
  of(sha256: string): KeyBudget {
    const limits = this.#options.limitsOf(sha256);
    const known = this.#budgets.get(sha256);
    if (known !== undefined) {
      // Limits may have changed while a request was in flight; those of a key that is gone stay until it has settled.
      if (limits !== undefined && limits !== known.limits) {
        known.budget.limits = limits;
        known.limits = limits;
      }
      return known.budget;
    }
    const budget = new KeyBudget(limits ?? {});
    const { [sha256]: stored, ...rest } = this.#restored;
    if (stored !== undefined) budget.restore(stored);
    this.#restored = rest;
    this.#budgets.set(sha256, { budget, limits: limits ?? {} });
    return budget;
  }
}

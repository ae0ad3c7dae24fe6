import type { OutgoingHttpHeaders } from "node:http";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey, KeyLimits, LimitUse } from "@/server/contracts/gateway/gatewayKeys";
import type { ApiError } from "../http/apiError";
import { shownName } from "../http/clientNames";
import { type ModelRequest, partsProgram } from "../http/modelRequest";
import type { AuditNote } from "../lib/auditLog";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";
import type { Serving } from "../serving/serving";
import type { ValkeyLink } from "../shared/valkeyLink";
import { budgetRefusal } from "./budgetRefusal";
import { BudgetStore, type LimitStore } from "./budgetStore";
import { type LimitState, nanoPerUsd, nothing, type Spend, sum } from "./keyBudget";
import { limitHeaders } from "./rateHeaders";
import { type ExpectedSpend, larger, SpendForecast, type UnknownSpend, usedSpend } from "./requestSpend";
import { SharedBudgets } from "./sharedBudgets";

/** A request that its key's limits admit. */
export interface BudgetPlace {
  readonly headers: OutgoingHttpHeaders;
  /** Replaces its reservation by what it used; without a record it used nothing itself. Later calls do nothing. */
  settle(decision: Omit<Decision, "sequence">): void;
  /** Gives its reservation back; keeps of it what its parts have not used if they were ended with it. */
  end(by: { readonly isAborted: boolean }): void;
}

export interface BudgetError {
  readonly error: ApiError;
  readonly headers: OutgoingHttpHeaders;
  /** The name that it asked for as it is served; null if nothing is served under it. */
  readonly served: string | null;
}

interface KeyBudgetsOptions {
  readonly serving: Serving;
  readonly note: (line: AuditNote) => void;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** To the other gateways; null: this one shares nothing. */
  readonly link: ValkeyLink | null;
}

type LimitedKey = GatewayKey & { readonly limits: KeyLimits };

interface Begun {
  readonly reserved: Spend;
  readonly unknown: UnknownSpend;
  /** The served name under which its answer teaches; null: it teaches nothing. */
  readonly name: string | null;
  /** The program of its parts, or that it is a part of; null: it has none and is none. */
  readonly whole: string | null;
  readonly isPart: boolean;
  readonly headers: OutgoingHttpHeaders;
}

/** Admits requests by the limits of their keys, and keeps count of what they use. */
export class KeyBudgets {
  readonly store: LimitStore;
  readonly #options: KeyBudgetsOptions;
  readonly #forecast: SpendForecast;
  readonly #refusals = new Tally(["key", "limit"]);
  readonly #warnings = new Tally(["key", "limit"]);
  /** What the parts of requests in progress have used, by the program of these. */
  readonly #parts = new Map<string, Spend>();
  /** Passes on by how much a key has used more than it had when its use was stored last; null: this process counts it. */
  #passOn: ((sha256: string, change: Spend) => void) | null = null;
  /** The use as it was when this process began to pass on. */
  #passedText: string | null = null;

  constructor(options: KeyBudgetsOptions) {
    this.#options = options;
    const { serving, nowMs, link } = options;
    const limitsOf = (sha256: string) => serving.callers.find(sha256)?.limits;
    const limited = () => serving.callers.keys.filter(isLimited).map(({ sha256 }) => sha256);
    if (link === null) this.store = new BudgetStore({ nowMs, limitsOf });
    else {
      const store = new SharedBudgets({ link, nowMs, limitsOf, limited });
      link.add(store);
      this.store = store;
    }
    this.#forecast = new SpendForecast(serving);
  }

  /**
   * Admits a request, or says why it is refused.
   * @param isPart of a request that was admitted: it is not refused, but what it uses counts.
   */
  async admit(key: GatewayKey, asked: ModelRequest, { isPart }: { readonly isPart: boolean }): Promise<BudgetPlace | BudgetError> {
    const expected = this.#forecast.of(asked);
    const served = expected?.name ?? null;
    const refused = isPart ? null : this.modelRefusal(key, asked.model);
    if (refused !== null) return { error: refused, headers: {}, served };
    if (!isLimited(key) || expected === null) return free;
    if (isPart) return this.#placeOfPart(key, expected, asked);
    const { name, prompt, unpriced } = expected;
    if (unpriced !== null && hasMoney(key)) return { error: priceMissing(key, unpriced), headers: {}, served };
    const spend = expected.isGuess ? within(expected, this.store.states(key.sha256)) : expected.spend;
    const { refusal, states } = await this.store.reserve(key.sha256, spend);
    const nowMs = this.#options.nowMs();
    const headers = limitHeaders(states, nowMs);
    if (refusal === null) {
      const whole = expected.hasParts ? partsProgram(asked) : null;
      const unknown = { whole: spend, ended: spend };
      return this.#place(key, { reserved: spend, unknown, name, whole, isPart, headers });
    }
    this.#refusals.inc({ key: key.name, limit: refusal.name });
    const { error, headers: retry } = budgetRefusal(refusal, { key: key.name, prompt, nowMs });
    return { error, headers: { ...headers, ...retry }, served };
  }

  /** The use of limits as text, which a later start restores. */
  get text(): string {
    return this.#passedText ?? this.store.text;
  }

  /**
   * From now on another process counts: it has `text`, in which what is reserved counts as used.
   * @param onChange called for each request that settles from now on.
   */
  passOn(onChange: (sha256: string, change: Spend) => void): void {
    this.#passedText = this.store.text;
    this.#passOn = onChange;
  }

  /** Changes the use of a key by what a request did in the process before this one. */
  change(sha256: string, change: Spend): void {
    this.store.change(sha256, change);
  }

  /** Why a key may not ask for a model; null if it may. */
  modelRefusal(key: GatewayKey, model: string): ApiError | null {
    return key.models === undefined || this.#options.serving.isAmong(key.models, model) ? null : modelRefused(key, model);
  }

  /** The use of a key's limits. */
  useOf(key: GatewayKey): LimitUse[] {
    if (!isLimited(key)) return [];
    return this.store.states(key.sha256).map(({ name, unit, most, whole = most, used, reserved, resetsAtMs }) => {
      const scale = unit === "usd" ? nanoPerUsd : 1;
      const resetsAt = new Date(resetsAtMs).toISOString();
      return { limit: name, most: whole / scale, used: used / scale, reserved: reserved / scale, resetsAt };
    });
  }

  /** Declares the metrics of the limits. */
  register(registry: MetricRegistry): void {
    const labels = ["key", "limit"] as const;
    registry.counter("weir_gateway_limit_refusals_total", "Requests refused by a limit of their key.", labels, this.#refusals);
    const warned = "Limits of keys whose use has reached the share to warn at, once a window.";
    registry.counter("weir_gateway_limit_warnings_total", warned, labels, this.#warnings);
    registry.gauge("weir_gateway_limit_used_ratio", "Share of a key's limit that is used in its present window.", labels, (gauge) => {
      for (const key of this.#options.serving.callers.keys)
        for (const { limit, used, most } of this.useOf(key)) gauge.set({ key: key.name, limit }, used / most);
    });
  }

  /** The request that it is a part of has reserved for it, and counts what its parts were ended in. */
  #placeOfPart(key: LimitedKey, { spend }: ExpectedSpend, { programId: whole }: ModelRequest): BudgetPlace {
    return this.#place(key, {
      ...{ reserved: nothing, unknown: { whole: spend, ended: nothing }, name: null },
      ...{ whole, isPart: true, headers: {} },
    });
  }

  #place(key: LimitedKey, { reserved, unknown, name, whole, isPart, headers }: Begun): BudgetPlace {
    let isSettled = false;
    const isStored = this.#passOn === null;
    if (whole !== null && !isPart) this.#parts.set(whole, nothing);
    const replace = (used: Spend): void => {
      isSettled = true;
      this.#passOn?.(key.sha256, isStored ? { tokens: used.tokens - reserved.tokens, nanoUsd: used.nanoUsd - reserved.nanoUsd } : used);
      void this.store.settle(key.sha256, reserved, used).then((warnings) => {
        for (const warning of warnings) this.#warn(key, warning);
      });
    };
    return {
      headers,
      settle: (decision) => {
        if (isSettled) return;
        if (name !== null && decision.status === 200) this.#forecast.learn(name, decision);
        const used = usedSpend(decision, unknown, this.#options.serving.config);
        const others = whole === null ? undefined : this.#parts.get(whole);
        if (whole !== null && others !== undefined) this.#parts.set(whole, sum(others, used));
        replace(used);
      },
      end: ({ isAborted }) => {
        if (isSettled) return;
        const parts = whole === null || isPart ? undefined : this.#parts.get(whole);
        if (whole !== null && !isPart) this.#parts.delete(whole);
        replace(isAborted && parts !== undefined ? less(reserved, parts) : nothing);
      },
    };
  }

  #warn({ name, labels, limits }: LimitedKey, { name: limit, unit, period, used, most }: LimitState): void {
    this.#warnings.inc({ key: name, limit });
    // A line a minute would bury the others.
    if (period === "minute") return;
    const what = unit === "usd" ? `${most / nanoPerUsd} USD` : `${most} tokens`;
    const share = `${Math.floor((100 * used) / most)} % of its ${what} of this ${period}`;
    const detail = `The API key ${name}${labelText(labels)} has used ${share}; it warns at ${100 * (limits.warnAt ?? 1)} %.`;
    this.#options.note({ by: "gateway", action: "limit nearly used", detail });
  }
}

/** Labels in parentheses after a name; empty without any. */
export function labelText(labels: GatewayKey["labels"]): string {
  const parts = Object.entries(labels ?? {}).map(([label, value]) => `${label} ${value}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

const free: BudgetPlace = { headers: {}, settle: () => undefined, end: () => undefined };

const isLimited = (key: GatewayKey): key is LimitedKey => key.limits !== undefined;

const hasMoney = ({ limits: { usdPerHour, usdPerDay, usdPerMonth } }: LimitedKey): boolean =>
  usdPerHour !== undefined || usdPerDay !== undefined || usdPerMonth !== undefined;

/**
 * What is expected, with a guessed answer for which the smallest limit of each unit has room: a mean above a limit would refuse every
 * request, and so never be corrected. The prompt is no guess.
 */
function within({ spend, prompt }: ExpectedSpend, states: readonly LimitState[]): Spend {
  const least = (unit: LimitState["unit"]) => Math.min(...states.filter((state) => state.unit === unit).map(({ most }) => most));
  return larger(prompt, { tokens: Math.min(spend.tokens, least("tokens")), nanoUsd: Math.min(spend.nanoUsd, least("usd")) });
}

/** One amount less another, and not less than nothing. */
const less = (one: Spend, other: Spend): Spend => ({
  tokens: Math.max(0, one.tokens - other.tokens),
  nanoUsd: Math.max(0, one.nanoUsd - other.nanoUsd),
});

function modelRefused({ name, models = [] }: GatewayKey, model: string): ApiError {
  const message = `The key ${name} may not ask for ${JSON.stringify(shownName(model))}: it may ask for ${models.join(", ")}.`;
  return { status: 403, message, type: "permission_error", param: "model", code: "model_not_allowed" };
}

function priceMissing({ name }: GatewayKey, model: string): ApiError {
  const message = `The key ${name} has a budget in USD, and ${model} has no price: ask the operator of this gateway to add one.`;
  return { status: 403, message, type: "permission_error", param: "model", code: "model_without_price" };
}

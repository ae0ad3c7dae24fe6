import type { OutgoingHttpHeaders } from "node:http";
import { type Decision, defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey, KeyLimits, LimitUse } from "@/server/contracts/gateway/gatewayKeys";
import type { ApiError } from "../http/apiError";
import { shownName } from "../http/clientNames";
import type { ModelRequest } from "../http/modelRequest";
import type { AuditNote } from "../lib/auditLog";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";
import type { Serving } from "../serving/serving";
import { budgetRefusal } from "./budgetRefusal";
import { BudgetStore } from "./budgetStore";
import { type LimitState, nanoPerUsd, nothing, type Spend } from "./keyBudget";
import { limitHeaders } from "./rateHeaders";
import { SpendForecast, usedSpend } from "./requestSpend";

/** A request that its key's limits admit. */
export interface BudgetPlace {
  readonly headers: OutgoingHttpHeaders;
  /** Replaces its reservation by what it used; without a record it used nothing. Later calls do nothing. */
  settle(decision: Omit<Decision, "sequence"> | null): void;
}

export interface BudgetError {
  readonly error: ApiError;
  readonly headers: OutgoingHttpHeaders;
}

interface KeyBudgetsOptions {
  readonly serving: Serving;
  readonly note: (line: AuditNote) => void;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

type LimitedKey = GatewayKey & { readonly limits: KeyLimits };

interface Begun {
  readonly spend: Spend;
  readonly name: string | null;
  readonly headers: OutgoingHttpHeaders;
}

/** Admits requests by the limits of their keys, and keeps count of what they use. */
export class KeyBudgets {
  readonly store: BudgetStore;
  readonly #options: KeyBudgetsOptions;
  readonly #forecast: SpendForecast;
  readonly #refusals = new Tally(["key", "limit"]);
  readonly #warnings = new Tally(["key", "limit"]);

  constructor(options: KeyBudgetsOptions) {
    this.#options = options;
    const { serving, nowMs } = options;
    this.store = new BudgetStore({ nowMs, limitsOf: (sha256) => serving.callers.find(sha256)?.limits });
    this.#forecast = new SpendForecast(serving);
  }

  /**
   * Admits a request, or says why it is refused.
   * @param isPart of a request that was admitted: it is not refused, but what it uses counts.
   */
  async admit(key: GatewayKey, asked: ModelRequest, { isPart }: { readonly isPart: boolean }): Promise<BudgetPlace | BudgetError> {
    if (!isPart && !this.#mayAsk(key, asked.model)) return { error: modelRefused(key, asked.model), headers: {} };
    if (!isLimited(key)) return free;
    if (isPart) return this.#place(key, { spend: nothing, name: null, headers: {} });
    const expected = this.#forecast.of(asked);
    if (expected === null) return free;
    const { isGuess, name, unpriced } = expected;
    if (unpriced !== null && hasMoney(key)) return { error: priceMissing(key, unpriced), headers: {} };
    // A mean above a limit would refuse every request, and so never be corrected.
    const spend = isGuess ? within(expected.spend, this.store.states(key.sha256)) : expected.spend;
    const { refusal, states } = await this.store.reserve(key.sha256, spend);
    const nowMs = this.#options.nowMs();
    const headers = limitHeaders(states, nowMs);
    if (refusal === null) return this.#place(key, { spend, name, headers });
    this.#refusals.inc({ key: key.name, limit: refusal.name });
    const { error, headers: retry } = budgetRefusal(refusal, { key: key.name, nowMs });
    return { error, headers: { ...headers, ...retry } };
  }

  /** Why a key may not ask for a model; null if it may. */
  modelRefusal(key: GatewayKey, model: string): ApiError | null {
    return this.#mayAsk(key, model) ? null : modelRefused(key, model);
  }

  /** The use of a key's limits. */
  useOf(key: GatewayKey): LimitUse[] {
    if (!isLimited(key)) return [];
    return this.store.states(key.sha256).map(({ name, unit, most, used, reserved, resetsAtMs }) => {
      const scale = unit === "usd" ? nanoPerUsd : 1;
      const resetsAt = new Date(resetsAtMs).toISOString();
      return { limit: name, most: most / scale, used: used / scale, reserved: reserved / scale, resetsAt };
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

  #mayAsk({ models }: GatewayKey, model: string): boolean {
    if (models === undefined || models.includes(model)) return true;
    const { serving } = this.#options;
    return models.includes(defaultCascade) && serving.cascade !== undefined && serving.find(model) === serving.cascade;
  }

  #place(key: LimitedKey, { spend, name, headers }: Begun): BudgetPlace {
    let isSettled = false;
    return {
      headers,
      settle: (decision) => {
        if (isSettled) return;
        isSettled = true;
        if (name !== null && decision?.status === 200) this.#forecast.learn(name, decision);
        const used = decision === null ? nothing : usedSpend(decision, spend, this.#options.serving.config);
        void this.store.settle(key.sha256, spend, used).then((warnings) => {
          for (const warning of warnings) this.#warn(key, warning);
        });
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

const free: BudgetPlace = { headers: {}, settle: () => undefined };

const isLimited = (key: GatewayKey): key is LimitedKey => key.limits !== undefined;

const hasMoney = ({ limits: { usdPerHour, usdPerDay, usdPerMonth } }: LimitedKey): boolean =>
  usdPerHour !== undefined || usdPerDay !== undefined || usdPerMonth !== undefined;

/** At most the smallest limit of each unit. */
function within(spend: Spend, states: readonly LimitState[]): Spend {
  const least = (unit: LimitState["unit"]) => Math.min(...states.filter((state) => state.unit === unit).map(({ most }) => most));
  return { tokens: Math.min(spend.tokens, least("tokens")), nanoUsd: Math.min(spend.nanoUsd, least("usd")) };
}

function modelRefused({ name, models = [] }: GatewayKey, model: string): ApiError {
  const message = `The key ${name} may not ask for ${JSON.stringify(shownName(model))}: it may ask for ${models.join(", ")}.`;
  return { status: 403, message, type: "permission_error", param: "model", code: "model_not_allowed" };
}

function priceMissing({ name }: GatewayKey, model: string): ApiError {
  const message = `The key ${name} has a budget in USD, and ${model} has no price: ask the operator of this gateway to add one.`;
  return { status: 403, message, type: "permission_error", param: "model", code: "model_without_price" };
}

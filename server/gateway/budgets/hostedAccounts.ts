import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { type HostedEngine, hostedUsd } from "@/solver/hardware/hostedModel";
import type { Replica } from "../engines/replica";
import type { StageOutcome } from "../engines/stageOutcome";
import type { ModelRequest } from "../http/modelRequest";
import { type Usage, usageOf } from "../http/usage";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";
import { amountText } from "./budgetRefusal";
import { BudgetStore } from "./budgetStore";
import { type BudgetRefusal, type LimitState, nanoPerUsd, nothing, type Spend } from "./keyBudget";
import { spendOf } from "./requestSpend";

interface HostedAccountsOptions {
  readonly engines: () => readonly Replica[];
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Stores the accounts durably. */
  readonly save: () => Promise<void>;
}

/** A call of a hosted engine for which money and tokens are reserved. */
export interface HostedCall {
  readonly kind: "admitted";
  /** The most tokens that its answer may have. */
  readonly mostOutputTokens: number;
  /** Replaces the reservation by what the outcome shows of the use, once. */
  settle(outcome: StageOutcome): void;
}

/** `wait`: there is room later, and the engine takes no work until then; `closed`: the request does not fit any more. */
export type HostedRefusal =
  | { readonly kind: "wait" }
  | { readonly kind: "closed"; readonly failure: "budget" | "refused"; readonly reason: string };

/** With less than a cent left a budget is used up for every request. */
const leastNano = nanoPerUsd / 100;
/** A reservation of another request ends at the latest with it; until then the engine is asked again now and then. */
const againMs = 1_000;

/**
 * The money and tokens of hosted engines: reserved before each call and settled by the provider's `usage`. What is reserved is stored before
 * the call, so that after a crash nothing is missing: what was in flight counts as used.
 */
export class HostedAccounts {
  readonly store: BudgetStore;
  readonly #options: HostedAccountsOptions;
  readonly #refusals = new Tally(["model", "limit"]);
  readonly #usd = new Tally(["model"]);
  #passOn: ((account: string, change: Spend) => void) | null = null;

  constructor(options: HostedAccountsOptions) {
    this.#options = options;
    const { nowMs } = options;
    this.store = new BudgetStore({ nowMs, limitsOf: (account) => this.#limitsOf(account) });
  }

  /** Reserves what a request may use at a hosted engine, or says why it cannot be sent there. */
  async admit(replica: Replica, terms: HostedEngine, asked: ModelRequest): Promise<HostedCall | HostedRefusal> {
    const { mostOutputTokens, spend } = reservation(asked, terms);
    const { refusal } = await this.store.reserve(accountOf(replica), spend);
    if (refusal !== null) return this.#refused(replica, refusal);
    const isStored = this.#passOn === null;
    await this.#options.save();
    let isSettled = false;
    return {
      kind: "admitted",
      mostOutputTokens,
      settle: (outcome) => {
        if (isSettled) return;
        isSettled = true;
        this.#settle(replica, terms, { reserved: spend, outcome, isStored });
      },
    };
  }

  /**
   * From now on another process counts: it has what this one stored, in which reservations count as used.
   * @param onChange called for each call that settles from now on, with its account and what it used beyond what the other process knows of.
   */
  passOn(onChange: (account: string, change: Spend) => void): void {
    this.#passOn = onChange;
  }

  /** The limits of a hosted engine with their use. */
  states(replica: Replica): readonly LimitState[] {
    return this.store.states(accountOf(replica));
  }

  /** Declares the metrics of hosted engines. */
  register(registry: MetricRegistry): void {
    const spent = "USD spent at providers for a hosted model since the gateway started.";
    registry.counter("weir_gateway_hosted_usd_total", spent, ["model"], this.#usd);
    const refused = "Calls of a hosted model that a limit of its tokens or money kept back.";
    registry.counter("weir_gateway_hosted_refusals_total", refused, ["model", "limit"], this.#refusals);
    const used = "Share of a hosted model's limit that is used or reserved in its present window.";
    registry.gauge("weir_gateway_hosted_used_ratio", used, ["model", "limit"], (gauge) => {
      for (const replica of this.#hosted)
        for (const state of this.states(replica))
          gauge.set({ model: replica.model, limit: state.name }, (state.used + state.reserved) / state.most);
    });
    const open = "1 while a hosted model takes work, 0 while a budget, a rate or its provider keeps it from that.";
    registry.gauge("weir_gateway_hosted_open", open, ["model"], (gauge) => {
      for (const { model, accepting } of this.#hosted) gauge.set({ model }, accepting ? 1 : 0);
    });
  }

  get #hosted(): readonly Replica[] {
    return this.#options.engines().filter(({ hosted }) => hosted !== null);
  }

  #limitsOf(account: string): KeyLimits | undefined {
    const terms = this.#hosted.find((replica) => accountOf(replica) === account)?.hosted?.terms;
    if (terms === undefined) return undefined;
    const { tokensPerMinute, usdPerHour, usdPerDay } = terms;
    return { tokensPerMinute, usdPerHour, usdPerDay };
  }

  #refused(replica: Replica, refusal: BudgetRefusal): HostedRefusal {
    const { name, unit, period, most, used, needed, resetsAtMs } = refusal;
    this.#refusals.inc({ model: replica.model, limit: name });
    const { nowMs } = this.#options;
    const endMs = performance.now() + (resetsAtMs - nowMs());
    if (used + needed <= most) {
      // Only calls in flight stand against it.
      replica.hosted?.pauseUntil("reserved", performance.now() + againMs);
      return { kind: "wait" };
    }
    if (unit === "tokens" && needed <= most) {
      replica.hosted?.pauseUntil("rate", endMs);
      return { kind: "wait" };
    }
    if (unit === "usd" && most - used < leastNano) replica.hosted?.pauseUntil("budget", endMs);
    const [limit, spent, need] = [most, used, needed].map((amount) => amountText(amount, unit));
    const reason = `${replica.model} may use ${limit} a ${period}, has used ${spent} of it, and the request may need ${need}`;
    return { kind: "closed", failure: "budget", reason };
  }

  #settle(
    replica: Replica,
    terms: HostedEngine,
    { reserved, outcome, isStored }: { readonly reserved: Spend; readonly outcome: StageOutcome; readonly isStored: boolean },
  ): void {
    const used = usedBy(outcome, terms, reserved);
    const known = isStored ? reserved : nothing;
    this.#passOn?.(accountOf(replica), { tokens: used.tokens - known.tokens, nanoUsd: used.nanoUsd - known.nanoUsd });
    this.#usd.inc({ model: replica.model }, used.nanoUsd / nanoPerUsd);
    void this.store.settle(accountOf(replica), reserved, used).then(() => this.#options.save());
    replica.hosted?.resume("reserved");
  }
}

/** Calls of one model at one address share an account, whichever plan lists it. */
const accountOf = ({ address, servedName }: Pick<Replica, "address" | "servedName">): string => `${address} ${servedName}`;

/**
 * What a request is reserved for: of its prompt as many tokens as it has bytes, since none is shorter, and of its answer as many as it may
 * have. The rate counts the prompt as the gateway estimates it.
 */
function reservation(asked: ModelRequest, terms: HostedEngine): { readonly mostOutputTokens: number; readonly spend: Spend } {
  const { inputTokens, mostTokens, promptBytes, body } = asked;
  const mostOutputTokens = Math.min(terms.mostOutputTokens, mostTokens ?? terms.mostOutputTokens);
  const outputTokens = mostOutputTokens * (typeof body.n === "number" ? body.n : 1);
  const usd = hostedUsd(terms, { inputTokens: promptBytes, outputTokens });
  return { mostOutputTokens, spend: spendOf(inputTokens + outputTokens, usd) };
}

/** What a call used: nothing if the provider refused it, and all that was reserved where nobody knows. */
function usedBy(outcome: StageOutcome, terms: HostedEngine, reserved: Spend): Spend {
  if (outcome.kind === "refused") return nothing;
  if (outcome.kind === "failed" && (outcome.isUnsent === true || unpaid.has(outcome.failure))) return nothing;
  const usage = outcome.kind === "answered" ? usageOf(outcome.completion) : outcome.kind === "streamed" ? outcome.usage : null;
  return usage === null ? reserved : (spendOfUsage(usage, terms) ?? reserved);
}

/** Providers charge for no call that they answer with an error. */
const unpaid: ReadonlySet<string> = new Set(["status-429", "status-5xx", "refused"]);

function spendOfUsage({ inputTokens, outputTokens }: Usage, terms: HostedEngine): Spend | null {
  if (inputTokens === null || outputTokens === null) return null;
  return spendOf(inputTokens + outputTokens, hostedUsd(terms, { inputTokens, outputTokens }));
}

import { randomUUID } from "node:crypto";
import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { aliveMs, keysPerBeat, type Member, type Script, type ValkeyLink } from "../shared/valkeyLink";
import { budgetScript } from "./budgetScript";
import { BudgetStore, type LimitStore, type Reserve, type Settle } from "./budgetStore";
import { calendarWindow } from "./calendarWindow";
import { amountOf, assertWhole, type BudgetRefusal, type BudgetUse, type LimitState, nothing, type Spend } from "./keyBudget";

type Operation = "read" | "reserve" | "settle" | "post" | "raise" | "leave";

interface SharedBudgetsOptions {
  readonly link: ValkeyLink;
  readonly limitsOf: (sha256: string) => KeyLimits | undefined;
  /** The SHA-256 of all keys with limits. */
  readonly limited: () => readonly string[];
  /** Unix milliseconds; it may go back. */
  readonly nowMs: () => number;
}

/** What Valkey says of a key's limits after an operation. */
interface Answer {
  readonly isReserved: boolean;
  readonly totals: readonly { readonly limit: LimitState; readonly used: number }[];
}

/**
 * The budgets of keys over several gateways. Valkey decides and counts; each gateway counts its own use too. While Valkey cannot be reached in
 * time, a gateway decides by its share: what it had used, and what was left of a limit when the others were last seen, divided by the number of
 * gateways. Its own use is posted as a whole when Valkey is back.
 */
export class SharedBudgets implements LimitStore, Member {
  readonly scripts: readonly Script[] = [budgetScript];
  readonly #options: SharedBudgetsOptions;
  readonly #own: BudgetStore;
  /** The use of earlier starts of this gateway, which Valkey may not have, by their id. */
  #earlier: readonly { readonly sha256: string; readonly postedBy: string; readonly use: BudgetUse }[] = [];
  #next = 0;

  /** By reservation that was decided before Valkey's answer: that answer, which the settling must not overtake. */
  readonly #corrections = new WeakMap<Spend, Promise<void>>();

  constructor(options: SharedBudgetsOptions) {
    this.#options = options;
    this.#own = new BudgetStore(options);
  }

  readonly reserve: Reserve = async (sha256, spend) => {
    assertWhole(spend);
    const { link } = this.#options;
    const budget = this.#own.of(sha256);
    if (!link.isUp) {
      link.decidedAlone();
      return this.#decide(sha256, spend);
    }
    const { epoch } = link;
    const asked = this.#call("reserve", sha256, [...amounts(spend), 0]);
    const answer = await link.within(asked);
    if (answer === null) {
      const decided = this.#decide(sha256, spend, { isPosted: false });
      const isReserved = decided.refusal === null;
      const correction = asked.then(
        (late) => {
          if (late.isReserved === isReserved || epoch !== link.epoch || !link.isPosting) return;
          if (isReserved) this.#send("reserve", sha256, [...amounts(spend), 1]);
          else this.#send("settle", sha256, [...amounts(spend), ...amounts(nothing)]);
        },
        () => undefined,
      );
      this.#corrections.set(spend, correction);
      return decided;
    }
    const nowMs = this.#options.nowMs();
    if (answer.isReserved) {
      budget.force(spend);
      return { refusal: null, states: budget.states(nowMs) };
    }
    const states = budget.states(nowMs);
    return { refusal: budget.refusal(spend, nowMs) ?? leastRoom(states, spend), states };
  };

  readonly settle: Settle = async (sha256, reserved, used) => {
    const { link } = this.#options;
    const warnings = await this.#own.settle(sha256, reserved, used);
    await this.#corrections.get(reserved);
    if (!link.isPosting) return warnings;
    const settled = await this.#call("settle", sha256, [...amounts(reserved), ...amounts(used)]).catch(() => null);
    if (settled === null) return warnings;
    const warnAt = this.#options.limitsOf(sha256)?.warnAt;
    // Of all gateways the one whose use crosses the share warns.
    return settled.totals.flatMap(({ limit, used: total }) => {
      const before = total - amountOf(used, limit);
      const edge = (warnAt ?? Number.POSITIVE_INFINITY) * limit.most;
      return before < edge && total >= edge ? [{ ...limit, used: total, isNear: true }] : [];
    });
  };

  states(sha256: string): readonly LimitState[] {
    return this.#own.of(sha256).states(this.#options.nowMs(), this.#sharing);
  }

  change(sha256: string, change: Spend): void {
    this.#own.change(sha256, change);
  }

  get text(): string {
    return this.#own.textWith((sha256) => {
      const unposted = this.#earlier.filter((one) => one.sha256 === sha256).map(({ postedBy, use }) => ({ postedBy, use }));
      return { postedBy: this.#options.link.id, ...(unposted.length > 0 && { unposted }) };
    });
  }

  restore(text: string): void {
    this.#own.restore(text);
    // Of a start that shared nothing.
    const unshared = `unshared:${randomUUID()}`;
    this.#earlier = Object.entries(this.#own.restored).flatMap(([sha256, { postedBy = unshared, unposted = [] }]) => [
      ...unposted.map((one) => ({ sha256, ...one })),
      { sha256, postedBy, use: this.#own.of(sha256).giveAway() },
    ]);
  }

  async prepare(): Promise<void> {
    const raised = this.#earlier.map(({ sha256, postedBy, use }) => this.#call("raise", sha256, [postedBy, ...rowOf(use)]));
    await Promise.all(raised);
    this.#earlier = [];
  }

  async post(): Promise<void> {
    await Promise.all([...this.#own.used].map(([sha256, budget]) => this.#call("post", sha256, rowOf(budget.own))));
  }

  async refresh(): Promise<void> {
    const all = this.#options.limited();
    const first = this.#next % Math.max(1, all.length);
    const turn = [...all.slice(first), ...all.slice(0, first)].slice(0, keysPerBeat);
    this.#next = first + turn.length;
    await Promise.all(turn.map((sha256) => this.#call("read", sha256, [])));
  }

  async leave(): Promise<void> {
    for (const [sha256, budget] of this.#own.used) {
      const { reserved } = budget.own;
      // A request that never ended counts as used, as that of a gateway which was killed.
      if (reserved.tokens > 0 || reserved.nanoUsd > 0) continue;
      await this.#call("leave", sha256, []);
      budget.giveAway();
    }
  }

  overshoot(): string | null {
    const over = this.#options.limited().flatMap((sha256) =>
      this.states(sha256).flatMap(({ name, most, used, reserved }) => {
        const beyond = (used + reserved - most) / most;
        return beyond > 0 ? [{ name, beyond }] : [];
      }),
    );
    if (over.length === 0) return null;
    const largest = over.reduce((one, other) => (other.beyond > one.beyond ? other : one));
    const limits = over.length === 1 ? "1 limit of a key is exceeded" : `${over.length} limits of keys are exceeded`;
    return `${limits}, ${largest.name} by ${(100 * largest.beyond).toFixed(1)} %${over.length === 1 ? "" : " at most"}`;
  }

  /** Gateways that share what is left. */
  get #sharing(): number {
    const { isUp, sharing } = this.#options.link;
    return isUp ? 1 : sharing;
  }

  /** Decides by this gateway's share. */
  #decide(sha256: string, spend: Spend, { isPosted = this.#options.link.isPosting } = {}): Awaited<ReturnType<Reserve>> {
    const { link, nowMs } = this.#options;
    const budget = this.#own.of(sha256);
    const refusal = budget.reserve(spend, nowMs(), link.sharing);
    if (refusal === null && isPosted) this.#send("reserve", sha256, [...amounts(spend), 1]);
    return { refusal, states: budget.states(nowMs(), link.sharing) };
  }

  /** Sends a change that nothing waits for: if it is lost, the whole row is posted again. */
  #send(operation: Operation, sha256: string, args: readonly (string | number)[]): void {
    this.#call(operation, sha256, args).catch(() => undefined);
  }

  /** Runs an operation at Valkey, and takes over what it says of the others. */
  async #call(operation: Operation, sha256: string, args: readonly (string | number)[]): Promise<Answer> {
    const { link, nowMs } = this.#options;
    const budget = this.#own.of(sha256);
    const { epoch } = link;
    const limits = budget.states(nowMs());
    const named = limits.flatMap((limit) => [limit.name, limit.most, startOf(limit)]);
    const keys = [link.key("budget", sha256), link.key("gateways")];
    const [status, tokens, nanoUsd, ...rest] = await link.run(budgetScript, {
      keys,
      args: [operation, epoch, aliveMs, limits.length, ...named, ...args],
    });
    if (status === "stale") return { isReserved: false, totals: [] };
    const figures = limits.map((limit, index) => {
      const [startMs = 0, others = 0, own = 0] = rest.slice(3 * index, 3 * index + 3).map(Number);
      return { limit, startMs, others, own };
    });
    budget.others = {
      reserved: { tokens: Number(tokens), nanoUsd: Number(nanoUsd) },
      windows: Object.fromEntries(figures.map(({ limit, startMs, others }) => [limit.name, { startMs, used: others }])),
    };
    return {
      isReserved: status === "ok",
      totals: figures.map(({ limit, others, own }) => ({ limit, used: others + own })),
    };
  }
}

const amounts = ({ tokens, nanoUsd }: Spend): readonly number[] => [tokens, nanoUsd];

const startOf = ({ period, resetsAtMs }: LimitState): number => calendarWindow(period, resetsAtMs - 1).startMs;

const rowOf = ({ reserved, windows }: BudgetUse): readonly (string | number)[] => [
  ...amounts(reserved),
  ...Object.entries(windows).flatMap(([name, { startMs, used }]) => [name, startMs, used]),
];

/** The limit that Valkey had no room in: changes of this gateway that followed may have made some, then it is the one with the least. */
function leastRoom(states: readonly LimitState[], spend: Spend): BudgetRefusal {
  const needs = states.map((state) => ({ ...state, needed: amountOf(spend, state) }));
  const roomOf = ({ most, used, reserved, needed }: BudgetRefusal): number => (most - used - reserved - needed) / most;
  return needs.reduce((least, one) => (roomOf(one) < roomOf(least) ? one : least));
}

import type { CallOutcome } from "@/server/calls/callScheduler";
import type { Upstream } from "@/server/calls/upstream";
import type { Answerer } from "@/server/contracts/studio";
import { backoffMs, MOST_BUSY_MS, Slots } from "@/server/lib/slots";
import { isUp, type PoolContext, upstreamsOf, whereOf } from "./answererPool";
import type { MostOfCall } from "./prepareCall";

/** Consecutive calls without a connection, over all upstreams, after which a model counts as down. */
const DOWN_CALLS = 3;

/** Different prompts in a row whose answers were broken, after which it is not the prompts. */
const BROKEN_PROMPTS = 5;

export interface LaneLimits {
  /** A model without an upstream for so long is down. */
  readonly placeMs: number;
  /** One that only asks to wait is down after so long. */
  readonly busyMs: number;
}
export const usualLaneLimits: LaneLimits = { placeMs: 30_000, busyMs: MOST_BUSY_MS };

/** An upstream, and how it did lately. */
export interface UpstreamState {
  readonly upstream: Upstream;
  readonly slots: Slots;
  notBeforeMs: number;
  /** null: not checked yet. */
  up: boolean | null;
  downInRow: number;
  /** Whether it is asked to stream its answers. */
  streams: boolean;
}

export interface LaneParts extends PoolContext {
  readonly limits: LaneLimits;
  /** Calls at once. */
  readonly concurrency: number;
}

/** The upstreams of a model or a judge, as a job uses them. Times are milliseconds of a clock that only goes forward. */
export class Lane {
  readonly answerer: Answerer;
  readonly #isJudge: boolean;
  readonly #context: LaneParts;
  #upstreams: UpstreamState[] = [];
  #missing = "";
  #noPlaceSinceMs: number | null = null;
  #busySinceMs: number | null = null;
  #down = { calls: 0, reason: "" };
  readonly #broken = new Set<number>();
  #brokenReason = "";
  #mostInputTokens = 0;

  constructor(answerer: Answerer, isJudge: boolean, context: LaneParts) {
    this.answerer = answerer;
    this.#isJudge = isJudge;
    this.#context = context;
  }

  /** Looks where it can be asked now. */
  async refresh(nowMs: number, signal: AbortSignal): Promise<void> {
    const found = upstreamsOf(this.answerer, this.#context);
    if (found.ok) {
      this.#upstreams = found.upstreams.map((upstream) => {
        const known = this.#upstreams.find((one) => one.upstream.id === upstream.id);
        if (known) return Object.assign(known, { upstream });
        const slots = new Slots(this.#context.concurrency);
        return { upstream, slots, notBeforeMs: 0, up: upstream.engine === null ? true : null, downInRow: 0, streams: true };
      });
      const unsure = this.#upstreams.filter(({ up }) => up !== true);
      await Promise.all(unsure.map(async (one) => Object.assign(one, { up: await isUp(one.upstream, signal) })));
    }
    // One that cannot be seen is asked on where it was: whether anybody answers there shows by itself.
    else if (!found.unseen) this.#upstreams = [];
    this.#missing = found.ok ? "its engines do not take requests yet" : found.message;
    const isReachable = this.#upstreams.some(({ up }) => up === true);
    this.#noPlaceSinceMs = isReachable ? null : (this.#noPlaceSinceMs ?? nowMs);
  }

  /** The least busy upstream that may be asked now; null: none may. */
  pick(nowMs: number): UpstreamState | null {
    const open = this.#upstreams.filter(({ up, notBeforeMs, slots }) => up === true && notBeforeMs <= nowMs && slots.hasRoom);
    return open.reduce<UpstreamState | null>(
      (least, one) => (least === null || one.slots.underWay < least.slots.underWay ? one : least),
      null,
    );
  }

  /** Milliseconds until an upstream that is left alone may be asked again; null: no time will tell. */
  waitMs(nowMs: number): number | null {
    const held = this.#upstreams.filter(({ up, notBeforeMs }) => up === true && notBeforeMs > nowMs);
    return held.length === 0 ? null : Math.max(1, Math.min(...held.map(({ notBeforeMs }) => notBeforeMs - nowMs)));
  }

  /** Counts the outcome of a call at an upstream, and frees its slot. */
  report(upstream: UpstreamState, outcome: CallOutcome, call: number, nowMs: number): void {
    upstream.slots.release(
      outcome.kind === "busy" || outcome.kind === "answered" ? outcome : { kind: outcome.kind === "aborted" ? "cut" : "failed" },
    );
    if (outcome.kind === "aborted" || outcome.kind === "unstreamed" || outcome.kind === "unreported") return;
    if (outcome.kind !== "down") {
      upstream.downInRow = 0;
      this.#down = { calls: 0, reason: "" };
    }
    this.#busySinceMs = outcome.kind === "busy" ? (this.#busySinceMs ?? nowMs) : null;
    if (outcome.kind === "answered" || outcome.kind === "refused") this.#broken.clear();
    if (outcome.kind === "answered") this.#mostInputTokens = Math.max(this.#mostInputTokens, outcome.inputTokens ?? 0);
    if (outcome.kind === "down") {
      upstream.downInRow += 1;
      upstream.notBeforeMs = nowMs + backoffMs(upstream.downInRow);
      this.#down = { calls: this.#down.calls + 1, reason: outcome.reason };
    } else if (outcome.kind === "broken") {
      this.#broken.add(call);
      this.#brokenReason = outcome.reason;
    } else if (outcome.kind === "busy") upstream.notBeforeMs = Math.max(upstream.notBeforeMs, nowMs + upstream.slots.takeRest());
  }

  /** Why no more calls may be made to it before a user has checked, in a sentence; null if calls continue. */
  fault(nowMs: number): string | null {
    const who = `${this.#isJudge ? "The judge " : ""}${this.answerer.model} ${whereOf(this.answerer, this.#context.clusterName)}`;
    const { calls, reason } = this.#down;
    const everywhere = this.#upstreams.every(({ downInRow, up }) => downInRow > 0 || up !== true);
    if (calls >= DOWN_CALLS && everywhere) return `${who} is down: its last ${calls} calls failed, it ${reason}. Resume when it is back.`;
    if (this.#broken.size >= BROKEN_PROMPTS)
      return `${who} fails on every prompt: it ${this.#brokenReason} for the last ${this.#broken.size}. Resume when it is mended.`;
    if (this.#noPlaceSinceMs !== null && nowMs - this.#noPlaceSinceMs >= this.#context.limits.placeMs)
      return `${who} has nowhere to be asked: ${this.#missing.replace(/\.$/, "")}. Resume when it is there.`;
    if (this.#busySinceMs !== null && nowMs - this.#busySinceMs >= this.#context.limits.busyMs)
      return `${who} has only asked to wait for ${Math.round((nowMs - this.#busySinceMs) / 60_000)} minutes. Resume when it takes calls again, with a limit of requests per minute or fewer calls at once.`;
    return null;
  }

  /** The most that a call can cost: where it has counted more input tokens than a text has bytes, as many as it ever counted. */
  usdAtMost({ inputTokens, outputTokens }: MostOfCall): number {
    return this.#usd(Math.max(inputTokens, this.#mostInputTokens), outputTokens);
  }

  /** What a call has cost; where that cannot be known, the most that it can have. */
  usdOf(outcome: CallOutcome, mostUsd: number): number {
    if (outcome.kind !== "answered") return "mayCost" in outcome && outcome.mayCost ? mostUsd : 0;
    return outcome.inputTokens === null ? mostUsd : this.#usd(outcome.inputTokens, outcome.outputTokens);
  }

  /** Forgets failures: a user has checked. */
  resetFailures(): void {
    this.#noPlaceSinceMs = null;
    this.#busySinceMs = null;
    this.#down = { calls: 0, reason: "" };
    this.#broken.clear();
    for (const upstream of this.#upstreams) {
      Object.assign(upstream, { downInRow: 0, notBeforeMs: 0 });
      upstream.slots.resetFailures();
    }
  }

  #usd(inputTokens: number, outputTokens: number): number {
    const { usdPerMillionInputTokens, usdPerMillionOutputTokens } = this.answerer;
    return (inputTokens * usdPerMillionInputTokens + outputTokens * usdPerMillionOutputTokens) / 1e6;
  }
}

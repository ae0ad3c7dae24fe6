import type { Answerer } from "@/server/contracts/studio";
import { isUp, type PoolContext, upstreamsOf, whereOf } from "./answererPool";
import type { Asked } from "./askModel";
import type { MostOfCall } from "./prepareCall";
import type { Upstream } from "./upstream";

/** Calls in a row that found nobody, over all places, after which a model counts as down. */
const DOWN_CALLS = 3;

/** Different prompts in a row whose answers were broken, after which it is not the prompts. */
const BROKEN_PROMPTS = 5;

export interface LaneLimits {
  /** A model without a place for so long is down. */
  readonly placeMs: number;
  /** One that only asks to wait is down after so long. */
  readonly busyMs: number;
}
export const usualLaneLimits: LaneLimits = { placeMs: 30_000, busyMs: 600_000 };

/** A place, and how it did lately. */
export interface UpstreamState {
  readonly place: Upstream;
  inFlight: number;
  notBeforeMs: number;
  /** null: not looked at yet. */
  up: boolean | null;
  downInRow: number;
  /** Whether it is asked to stream its answers. */
  streams: boolean;
}

/** Waits after so many failures in a row, doubling from a second up to half a minute. */
export const backoffMs = (failures: number): number => Math.min(30_000, 1000 * 2 ** Math.max(0, failures - 1));

/** Asked to wait without being told how long. */
const busyMs = (times: number): number => Math.min(60_000, 1000 * 2 ** Math.min(6, times - 1));

/** The places of a model or a judge, as a job uses them. Times are milliseconds of a clock that only goes forward. */
export class Lane {
  readonly answerer: Answerer;
  readonly #isJudge: boolean;
  readonly #ground: PoolContext;
  readonly #limits: LaneLimits;
  #standings: UpstreamState[] = [];
  #missing = "";
  #noPlaceSinceMs: number | null = null;
  #busySinceMs: number | null = null;
  #busyTimes = 0;
  #down = { calls: 0, reason: "" };
  readonly #broken = new Set<number>();
  #brokenReason = "";
  #mostInputTokens = 0;

  constructor(answerer: Answerer, isJudge: boolean, ground: PoolContext, limits: LaneLimits) {
    this.answerer = answerer;
    this.#isJudge = isJudge;
    this.#ground = ground;
    this.#limits = limits;
  }

  /** Looks where it can be asked now. */
  async refresh(nowMs: number, signal: AbortSignal): Promise<void> {
    const found = upstreamsOf(this.answerer, this.#ground);
    if (found.ok) {
      this.#standings = found.upstreams.map((place) => {
        const known = this.#standings.find((one) => one.place.id === place.id);
        return known
          ? Object.assign(known, { place })
          : { place, inFlight: 0, notBeforeMs: 0, up: place.engine === null ? true : null, downInRow: 0, streams: true };
      });
      const unsure = this.#standings.filter(({ up }) => up !== true);
      await Promise.all(unsure.map(async (standing) => Object.assign(standing, { up: await isUp(standing.place, signal) })));
    }
    // One that cannot be seen is asked on where it was: whether anybody answers there shows by itself.
    else if (!found.unseen) this.#standings = [];
    this.#missing = found.ok ? "its engines do not take requests yet" : found.message;
    const isReachable = this.#standings.some(({ up }) => up === true);
    this.#noPlaceSinceMs = isReachable ? null : (this.#noPlaceSinceMs ?? nowMs);
  }

  /** The least busy place that may be asked now; null: none may. */
  pick(nowMs: number): UpstreamState | null {
    const open = this.#standings.filter(({ up, notBeforeMs }) => up === true && notBeforeMs <= nowMs);
    return open.reduce<UpstreamState | null>((least, one) => (least === null || one.inFlight < least.inFlight ? one : least), null);
  }

  /** Milliseconds until a place that is held may be asked again; null: no time will tell. */
  waitMs(nowMs: number): number | null {
    const held = this.#standings.filter(({ up }) => up === true).map(({ notBeforeMs }) => notBeforeMs - nowMs);
    return held.length === 0 ? null : Math.max(1, Math.min(...held));
  }

  /** Takes down how a call at a place went. */
  report(standing: UpstreamState, asked: Asked, call: number, nowMs: number): void {
    if (asked.kind === "aborted" || asked.kind === "unstreamed") return;
    if (asked.kind !== "down") {
      standing.downInRow = 0;
      this.#down = { calls: 0, reason: "" };
    }
    if (asked.kind !== "busy") {
      this.#busySinceMs = null;
      this.#busyTimes = 0;
    }
    if (asked.kind === "answered" || asked.kind === "refused") this.#broken.clear();
    if (asked.kind === "answered") this.#mostInputTokens = Math.max(this.#mostInputTokens, asked.inputTokens ?? 0);
    if (asked.kind === "down") {
      standing.downInRow += 1;
      standing.notBeforeMs = nowMs + backoffMs(standing.downInRow);
      this.#down = { calls: this.#down.calls + 1, reason: asked.reason };
    } else if (asked.kind === "broken") {
      this.#broken.add(call);
      this.#brokenReason = asked.reason;
    } else if (asked.kind === "busy") this.#hold(standing, asked.waitSeconds, nowMs);
  }

  /** Why nothing more is to be asked of it before somebody has looked, in a sentence; null where it is asked on. */
  fault(nowMs: number): string | null {
    const who = `${this.#isJudge ? "The judge " : ""}${this.answerer.model} ${whereOf(this.answerer, this.#ground.clusterName)}`;
    const { calls, reason } = this.#down;
    const everywhere = this.#standings.every(({ downInRow, up }) => downInRow > 0 || up !== true);
    if (calls >= DOWN_CALLS && everywhere) return `${who} is down: its last ${calls} calls failed, it ${reason}. Resume when it is back.`;
    if (this.#broken.size >= BROKEN_PROMPTS)
      return `${who} fails on every prompt: it ${this.#brokenReason} for the last ${this.#broken.size}. Resume when it is mended.`;
    if (this.#noPlaceSinceMs !== null && nowMs - this.#noPlaceSinceMs >= this.#limits.placeMs)
      return `${who} has nowhere to be asked: ${this.#missing.replace(/\.$/, "")}. Resume when it is there.`;
    if (this.#busySinceMs !== null && nowMs - this.#busySinceMs >= this.#limits.busyMs)
      return `${who} has only asked to wait for ${Math.round((nowMs - this.#busySinceMs) / 60_000)} minutes. Resume when it takes calls again, with a limit of requests per minute or fewer calls at once.`;
    return null;
  }

  /** The most that a call can cost: where it has counted more input tokens than a text has bytes, as many as it ever counted. */
  usdAtMost({ inputTokens, outputTokens }: MostOfCall): number {
    return this.#usd(Math.max(inputTokens, this.#mostInputTokens), outputTokens);
  }

  /** What a call has cost; where that cannot be known, the most that it can have. */
  usdOf(asked: Asked, mostUsd: number): number {
    if (asked.kind !== "answered") return "mayCost" in asked && asked.mayCost ? mostUsd : 0;
    return asked.inputTokens === null ? mostUsd : this.#usd(asked.inputTokens, asked.outputTokens);
  }

  /** Forgets failures: somebody has looked. */
  resetFailures(): void {
    this.#noPlaceSinceMs = null;
    this.#busySinceMs = null;
    this.#busyTimes = 0;
    this.#down = { calls: 0, reason: "" };
    this.#broken.clear();
    for (const standing of this.#standings) Object.assign(standing, { downInRow: 0, notBeforeMs: 0 });
  }

  #usd(inputTokens: number, outputTokens: number): number {
    const { usdPerMillionInputTokens, usdPerMillionOutputTokens } = this.answerer;
    return (inputTokens * usdPerMillionInputTokens + outputTokens * usdPerMillionOutputTokens) / 1e6;
  }

  #hold(standing: UpstreamState, waitSeconds: number | null, nowMs: number): void {
    this.#busySinceMs ??= nowMs;
    this.#busyTimes += 1;
    standing.notBeforeMs = Math.max(standing.notBeforeMs, nowMs + (waitSeconds === null ? busyMs(this.#busyTimes) : 1000 * waitSeconds));
  }
}

import type { Dispatcher } from "undici";
import { refuseCall } from "@/server/contracts/engine/refusedCall";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import { TokenBucket } from "../http/callers";
import type { WholeReply } from "./stageOutcome";

/**
 * Why a hosted engine takes no new work: its provider asked for a pause, a budget is used up, a limit of its tokens or requests is, or calls in
 * flight have reserved the rest.
 */
export type HostedPause = "provider" | "budget" | "rate" | "reserved";

interface Pause {
  readonly untilMs: number;
  /** Whether requests do not wait for its end. */
  readonly isLong: boolean;
}

interface HostedAccessOptions {
  /** The only way to the provider. */
  readonly pool: Dispatcher;
  /** Called when it takes work again, or takes none any more. */
  readonly onChange: () => void;
}

/** Node's timers hold no longer time; a pause that lasts longer is looked at again. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * When a hosted engine takes work: within its provider's requests a minute, and outside of the pauses that its provider asks for or its
 * limits force. Times are those of `performance.now()`.
 */
export class HostedAccess {
  readonly pool: Dispatcher;
  #terms: HostedEngine;
  #bucket: TokenBucket | null;
  readonly #pauses = new Map<HostedPause, Pause>();
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;
  #rateTimer: NodeJS.Timeout | undefined;

  constructor(terms: HostedEngine, { pool, onChange }: HostedAccessOptions) {
    this.pool = pool;
    this.#terms = terms;
    this.#bucket = bucketOf(terms, null);
    this.#onChange = onChange;
  }

  /** Its terms in force. */
  get terms(): HostedEngine {
    return this.#terms;
  }

  /** Changes the terms. A rate that stays the same keeps its use; a changed budget is tried anew. */
  set terms(terms: HostedEngine) {
    if (terms.usdPerHour !== this.#terms.usdPerHour || terms.usdPerDay !== this.#terms.usdPerDay) this.#pauses.delete("budget");
    this.#bucket = bucketOf(terms, this.#bucket);
    this.#terms = terms;
  }

  /** Requests that its rate lets begin now. */
  get seats(): number {
    return this.#bucket?.state(performance.now()).rest ?? Number.POSITIVE_INFINITY;
  }

  /** Whether nothing waits for it: a budget is used up, or its provider asked for a pause that is too long. */
  get isClosed(): boolean {
    const nowMs = performance.now();
    return [...this.#pauses.values()].some(({ untilMs, isLong }) => isLong && untilMs > nowMs);
  }

  /** Why it takes no new work now; null if it does. */
  get pause(): HostedPause | null {
    const nowMs = performance.now();
    for (const [cause, { untilMs }] of this.#pauses) if (untilMs > nowMs) return cause;
    return this.seats < 1 ? "rate" : null;
  }

  /** When its pauses end; null if there is none. */
  get resumesMs(): number | null {
    const untilMs = Math.max(0, ...[...this.#pauses.values()].map((pause) => pause.untilMs));
    return untilMs > performance.now() ? untilMs : null;
  }

  /** A request begins. */
  begin(): void {
    this.#bucket?.take(performance.now());
    if (this.#bucket === null || this.seats >= 1 || this.#rateTimer !== undefined) return;
    const waitMs = Math.ceil(60_000 / this.#bucket.perMinute) + 1;
    this.#rateTimer = setTimeout(() => {
      this.#rateTimer = undefined;
      this.#onChange();
    }, waitMs).unref();
  }

  /** A request that had begun was not sent. */
  unused(): void {
    this.#bucket?.giveBack(performance.now());
  }

  /** Its provider answered that it takes no request now. */
  pausedBy(reply: Pick<WholeReply, "retry">): void {
    this.pauseUntil("provider", performance.now() + pauseMs(reply));
  }

  /** Takes no new work for a time; the longer one of two for the same cause counts. */
  pauseUntil(cause: HostedPause, untilMs: number): void {
    const before = this.#pauses.get(cause)?.untilMs ?? 0;
    if (untilMs <= before) return;
    const isLong = cause === "budget" || (cause === "provider" && untilMs - performance.now() > this.#terms.mostPauseSeconds * 1000);
    this.#pauses.set(cause, { untilMs, isLong });
    this.#wakeLater();
    this.#onChange();
  }

  /** Ends a pause before its time. */
  resume(cause: HostedPause): void {
    if (!this.#pauses.delete(cause)) return;
    this.#wakeLater();
    this.#onChange();
  }

  /** Stops its timers. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#rateTimer);
  }

  #wakeLater(): void {
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    const ends = [...this.#pauses.values()].map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs);
    if (ends.length === 0) return;
    const waitMs = Math.min(longestTimerMs, Math.ceil(Math.min(...ends) - nowMs) + 1);
    this.#timer = setTimeout(() => {
      this.#wakeLater();
      this.#onChange();
    }, waitMs).unref();
  }
}

/** A provider that does not say when it may be asked again. */
const unsaidMs = 1_000;
const mostMs = 86_400_000;

/** For how many milliseconds a provider asks not to be called. */
function pauseMs({ retry = {} }: Pick<WholeReply, "retry">): number {
  const exact = Number(retry["retry-after-ms"]);
  if (exact > 0) return Math.min(mostMs, exact);
  const text = retry["retry-after"] ?? "";
  const asked = Number.isNaN(Number(text)) ? Date.parse(text) - Date.now() : Number(text) * 1000;
  return asked > 0 ? Math.min(mostMs, asked) : unsaidMs;
}

function bucketOf({ requestsPerMinute }: HostedEngine, before: TokenBucket | null): TokenBucket | null {
  if (requestsPerMinute === undefined) return null;
  return before?.perMinute === requestsPerMinute ? before : new TokenBucket(requestsPerMinute, performance.now());
}

/** Sends nothing: what is not a call of a stage never leaves the house. */
export const sendingNothing: Dispatcher.DispatcherComposeInterceptor = () => (_, handler) =>
  refuseCall(handler, new Error("a hosted model is sent the requests of its stage and nothing else"));

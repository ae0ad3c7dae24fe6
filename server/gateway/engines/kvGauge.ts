import type { Dispatcher } from "undici";
import { type EngineCount, type Found, readEngineMemory } from "@/server/engines/readEngineMemory";
import type { Reading } from "@/solver/policies/core/policy";
import { type EngineRead, readEngine } from "./engineRead";

/** Time between two readings, and the time limit of one. */
const secondMs = 1_000;
/** Share by which that time varies, so that engines are not all read at once. */
const jitter = 0.1;
/** An engine that does not answer is asked less and less often, down to once in so many periods. */
const slowestPeriods = 8;
/** An exposition has some 20 kB. */
const mostBytes = 4_000_000;
/** A value is fresh for three periods: one reading may be lost and one late. After ten periods it says nothing of the present. */
const freshPeriods = 3;
const stalePeriods = 10;

/** A reading, and why it is not fresh. */
export type KvReading = Reading & { readonly reason?: string };

/** A size does not change while an engine runs, so it does not age; null, and why, where it is not known. */
export type KvCapacity = { readonly tokens: number } | { readonly tokens: null; readonly reason: string };

const notRead = { state: "absent", reason: "no policy in force reads it" } as const;
const noAnswer = "no answer yet";

/** What an engine reported about its memory, and when. */
interface Known {
  readonly kvUse: Found<number>;
  readonly kvTokens: Found<number>;
  /** Counted across the engine's restarts. */
  readonly preemptions: Found<number>;
  readonly atMs: number;
  /** The reason to report for a metric that was not found. */
  readonly lacks: (lookedFor: string) => string;
}

/**
 * One engine's KV cache from its own metrics: its use, its capacity and its preemptions for lack of room. They are read in one request
 * about once a second while a policy needs them, and otherwise not at all. Each value may be missing by itself.
 */
export class KvGauge {
  readonly #pool: Dispatcher;
  readonly #path: string;
  readonly #periodMs: number;
  /** Engine seconds per wall second while it is watched; null otherwise. */
  #timeScale: number | null = null;
  #known: Known | null = null;
  #preempted = new CountOverRestarts();
  /** Why the last reading failed; null where it did not. */
  #failure: Exclude<EngineRead, { kind: "answered" }> | null = null;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(pool: Dispatcher, basePath: string, periodMs = secondMs) {
    this.#pool = pool;
    this.#path = `${basePath}/metrics`;
    this.#periodMs = periodMs;
  }

  /** Starts the readings, or ends them with null. */
  watch(timeScale: number | null): void {
    const watched = this.#timeScale !== null;
    this.#timeScale = timeScale;
    if (timeScale === null) {
      if (!watched) return;
      clearTimeout(this.#timer);
      this.#known = null;
      this.#preempted = new CountOverRestarts();
      this.#failure = null;
      this.#failures = 0;
    } else if (!watched && !this.#reading) void this.#read();
  }

  /** The cache's use at a moment of the clock of `performance.now()`; the age is in engine seconds. */
  useAt(nowMs: number): KvReading {
    return this.#readingAt(nowMs, "kvUse");
  }

  /**
   * How often requests were preempted, likewise. It never falls while it is watched: after a restart of the engine it continues from the
   * earlier count.
   */
  preemptionsAt(nowMs: number): KvReading {
    return this.#readingAt(nowMs, "preemptions");
  }

  /** The cache's capacity in tokens, as last reported; null if it is not known. */
  get tokens(): number | null {
    const known = this.#known?.kvTokens;
    return known?.found ? known.value : null;
  }

  /** The same, with the reason where it is not known. */
  get capacity(): KvCapacity {
    const { tokens } = this;
    if (tokens !== null) return { tokens };
    if (this.#timeScale === null) return { tokens, reason: notRead.reason };
    const known = this.#known;
    const missing = known === null || known.kvTokens.found ? null : known.lacks(known.kvTokens.lookedFor);
    return { tokens, reason: missing ?? this.#failure?.reason ?? noAnswer };
  }

  #readingAt(nowMs: number, what: "kvUse" | "preemptions"): KvReading {
    if (this.#timeScale === null) return notRead;
    const reason = this.#failure?.reason ?? noAnswer;
    if (this.#known === null) return { state: "unreachable", reason };
    const { [what]: found, atMs, lacks } = this.#known;
    if (!found.found)
      return this.#failure === null ? { state: "absent", reason: lacks(found.lookedFor) } : { state: "unreachable", reason };
    const ageMs = Math.max(0, nowMs - atMs);
    const { value } = found;
    const ageSeconds = (ageMs / 1000) * this.#timeScale;
    if (ageMs <= freshPeriods * this.#periodMs) return { state: "fresh", value, ageSeconds };
    if (ageMs > stalePeriods * this.#periodMs || this.#failure?.kind === "refused") return { state: "unreachable", reason };
    return { state: "stale", value, ageSeconds, reason };
  }

  async #read(): Promise<void> {
    this.#reading = true;
    const read = await readEngine(this.#pool, this.#path, { timeoutMs: this.#periodMs, mostBytes });
    this.#reading = false;
    if (this.#timeScale === null) return;
    this.#take(read);
    const periods = Math.min(slowestPeriods, 2 ** Math.max(0, this.#failures - 1));
    this.#timer = setTimeout(() => void this.#read(), periods * this.#periodMs * (1 - jitter + 2 * jitter * Math.random()));
    this.#timer.unref();
  }

  #take(read: EngineRead): void {
    const answered = read.kind === "answered" && (read.status === 200 || read.status === 404);
    if (!answered) {
      this.#failure = read.kind === "answered" ? { kind: "failed", reason: `${this.#path} answered ${read.status}` } : read;
      this.#failures += 1;
      return;
    }
    this.#failure = null;
    this.#failures = 0;
    const missing = `there is no ${this.#path}`;
    const lacks = read.status === 404 ? () => missing : (lookedFor: string) => `${lookedFor} is not among its metrics`;
    const { kvUse, kvTokens, preemptions } = readEngineMemory(read.status === 404 ? "" : read.text);
    this.#known = { kvUse, kvTokens, preemptions: this.#preempted.count(preemptions), atMs: performance.now(), lacks };
  }
}

/** A counter of an engine, which restarts at 0 with the engine. */
class CountOverRestarts {
  /** What was counted before the engine's latest start. */
  #before = 0;
  #last: EngineCount | null = null;

  count(found: Found<EngineCount>): Found<number> {
    if (!found.found) return found;
    const { count, series } = found.value;
    const last = this.#last ?? found.value;
    // If ranks came or went, the new part of the sum is unknown and counts as 0.
    if (series !== last.series) this.#before += last.count - count;
    else if (count < last.count) this.#before += last.count;
    this.#last = found.value;
    return { found: true, value: this.#before + count };
  }
}

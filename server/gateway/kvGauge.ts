import type { Dispatcher } from "undici";
import { readKvUse } from "@/server/engines/readKvUse";
import type { Reading } from "@/solver/policies/policy";
import { type EngineRead, readEngine } from "./engineRead";

/** Time from one reading to the next, and for one. */
const secondMs = 1_000;
/** Share of it by which it varies, so that engines are not all read at once. */
const jitter = 0.1;
/** An engine that does not answer is asked less and less often, down to once in so many periods. */
const slowestPeriods = 8;
/** An exposition has some 20 kB. */
const mostBytes = 4_000_000;
/** A value is fresh for three periods: one may be lost and one late. After ten it says nothing of the present. */
const freshPeriods = 3;
const stalePeriods = 10;

/** A reading, and why it is no fresh one. */
export type KvReading = Reading & { readonly reason?: string };

const notRead: KvReading = { state: "absent", reason: "no policy in force goes by it" };

type Known =
  | { readonly kind: "value"; readonly value: number; readonly atMs: number }
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "nothing" };

/** How full one engine's KV cache is, by its own metrics, read about once a second while a policy asks for it and otherwise not at all. */
export class KvGauge {
  readonly #pool: Dispatcher;
  readonly #path: string;
  readonly #periodMs: number;
  /** Engine seconds in a wall second while it is watched; null while it is not. */
  #timeScale: number | null = null;
  #known: Known = { kind: "nothing" };
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

  /** Begins to read, or ends with null. */
  watch(timeScale: number | null): void {
    const watched = this.#timeScale !== null;
    this.#timeScale = timeScale;
    if (timeScale === null) {
      if (!watched) return;
      clearTimeout(this.#timer);
      this.#known = { kind: "nothing" };
      this.#failure = null;
      this.#failures = 0;
    } else if (!watched && !this.#reading) void this.#read();
  }

  /** What is known at a moment of the clock of `performance.now()`; the age is in engine seconds. */
  readingAt(nowMs: number): KvReading {
    if (this.#timeScale === null) return notRead;
    const known = this.#known;
    const reason = this.#failure?.reason ?? "no answer yet";
    if (known.kind === "nothing") return { state: "unreachable", reason };
    if (known.kind === "absent")
      return this.#failure === null ? { state: "absent", reason: known.reason } : { state: "unreachable", reason };
    const ageMs = Math.max(0, nowMs - known.atMs);
    const { value } = known;
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
    this.#known = read.status === 404 ? { kind: "absent", reason: `there is no ${this.#path}` } : knownOf(read.text);
  }
}

function knownOf(text: string): Known {
  const use = readKvUse(text);
  if (use.found) return { kind: "value", value: use.value, atMs: performance.now() };
  return { kind: "absent", reason: `${use.lookedFor} is not among its metrics` };
}

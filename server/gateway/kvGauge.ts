import type { Pool } from "undici";
import { readKvUse } from "@/server/engines/readKvUse";
import type { Reading } from "@/solver/policies/policy";
import { type EngineRead, readEngine } from "./engineRead";

/** Time from one reading to the next, give or take a tenth, so that engines are not all read at once. */
const periodMs = 1_000;
const jitter = 0.1;
const slowestPeriodMs = 8_000;
const timeoutMs = 1_000;
/** An exposition has some 20 kB. */
const mostBytes = 4_000_000;
/** A value is fresh for three periods: one may be lost and one late. After ten it says nothing of the present. */
const freshMs = 3 * periodMs;
const staleMs = 10 * periodMs;

/** A reading, and why it is no fresh one. */
export type KvReading = Reading & { readonly reason?: string };

const notRead: KvReading = { state: "absent", reason: "no policy in force goes by it" };

type Known =
  | { readonly kind: "value"; readonly value: number; readonly atMs: number }
  | { readonly kind: "absent"; readonly reason: string }
  | { readonly kind: "nothing" };

/** How full one engine's KV cache is, by its own metrics, read about once a second while a policy asks for it and otherwise not at all. */
export class KvGauge {
  readonly #pool: Pool;
  readonly #path: string;
  /** Engine seconds in a wall second while it is watched; null while it is not. */
  #timeScale: number | null = null;
  #known: Known = { kind: "nothing" };
  /** Why the last reading failed; null where it did not. */
  #failure: Exclude<EngineRead, { kind: "answered" }> | null = null;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(pool: Pool, basePath: string) {
    this.#pool = pool;
    this.#path = `${basePath}/metrics`;
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

  /** What is known now; the age is in engine seconds. */
  get reading(): KvReading {
    if (this.#timeScale === null) return notRead;
    const known = this.#known;
    const reason = this.#failure?.reason ?? "not read yet";
    if (known.kind === "nothing") return { state: "unreachable", reason };
    if (known.kind === "absent")
      return this.#failure === null ? { state: "absent", reason: known.reason } : { state: "unreachable", reason };
    const ageMs = performance.now() - known.atMs;
    const { value } = known;
    const ageSeconds = (ageMs / 1000) * this.#timeScale;
    if (ageMs <= freshMs) return { state: "fresh", value, ageSeconds };
    if (ageMs > staleMs || this.#failure?.kind === "refused") return { state: "unreachable", reason };
    return { state: "stale", value, ageSeconds, reason };
  }

  async #read(): Promise<void> {
    this.#reading = true;
    const read = await readEngine(this.#pool, this.#path, { timeoutMs, mostBytes });
    this.#reading = false;
    if (this.#timeScale === null) return;
    this.#take(
      read.kind === "answered" && read.status !== 200 ? { kind: "failed", reason: `${this.#path} answered ${read.status}` } : read,
    );
    const delayMs = Math.min(slowestPeriodMs, periodMs * 2 ** Math.max(0, this.#failures - 1));
    this.#timer = setTimeout(() => void this.#read(), delayMs * (1 - jitter + 2 * jitter * Math.random()));
    this.#timer.unref();
  }

  #take(read: EngineRead): void {
    if (read.kind !== "answered") {
      this.#failure = read;
      this.#failures += 1;
      return;
    }
    this.#failure = null;
    this.#failures = 0;
    const use = readKvUse(read.text);
    this.#known = use.found
      ? { kind: "value", value: use.value, atMs: performance.now() }
      : { kind: "absent", reason: `${use.lookedFor} is not among its metrics` };
  }
}

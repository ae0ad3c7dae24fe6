import { backoffMs, usualLaneLimits } from "@/server/profiling/lane";
import type { Attempt } from "./askOnce";

/** Different questions in a row that failed, after which it is not the questions. */
const MOST_FAILING = 20;

/** What an answer adds to how many may be under way, where an engine has asked to wait. */
const WIDER = 0.25;

/** How many questions of a session may be under way at its engine, and whether it answers any. */
export class SessionFlow {
  readonly #concurrency: number;
  #width: number;
  #underWay = 0;
  /** Since its last answer: how often it asked to wait with nothing under way, and for how long that was waited. */
  #busy = { times: 0, waitedMs: 0 };
  #restMs = 0;
  /** Questions that failed since its last answer. */
  readonly #failing = new Set<number>();
  #mostFailing = MOST_FAILING;

  /** @param concurrency at most under way at once. */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    this.#width = concurrency;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get hasRoom(): boolean {
    return this.#underWay < Math.floor(this.#width);
  }

  /** Milliseconds of the wall that are to pass before anything more is asked; told once. */
  takeRest(): number {
    const restMs = this.#restMs;
    this.#restMs = 0;
    return restMs;
  }

  begin(): void {
    this.#underWay += 1;
  }

  /** Takes down what came of an attempt at a question. */
  end(position: number, attempt: Attempt): void {
    this.#underWay -= 1;
    if (attempt.kind === "answered") {
      this.#width = Math.min(this.#concurrency, this.#width + WIDER);
      this.#mostFailing = MOST_FAILING;
      this.forgive();
    } else if (attempt.kind === "busy") this.#slowDown(attempt.waitSeconds);
    else if (attempt.kind === "failed" && !attempt.isGone) this.#failing.add(position);
  }

  /** With others under way it takes as many as those; with none it is left alone, for longer each time. */
  #slowDown(waitSeconds: number | null): void {
    this.#width = Math.max(1, this.#underWay);
    if (this.#underWay > 0) return;
    const times = this.#busy.times + 1;
    this.#restMs = Math.max(1000 * (waitSeconds ?? 0), backoffMs(times));
    this.#busy = { times, waitedMs: this.#busy.waitedMs + this.#restMs };
  }

  /**
   * Why nothing more is to be asked before somebody has looked, told after what `end` took down and once for each time; null where it is asked on.
   *
   * @param failure of the last attempt, in a few words.
   * @param left questions that are not over. Where most of them are those that failed, they may be what was hard all along, and little else is there to be lost.
   */
  fault(failure: string, left: number): string | null {
    const { waitedMs } = this.#busy;
    if (waitedMs >= usualLaneLimits.busyMs) return `has only asked to wait for ${Math.round(waitedMs / 60_000)} minutes`;
    if (this.#failing.size < this.#mostFailing || left < 2 * this.#failing.size) return null;
    // Whoever resumes it as it is knows that questions fail.
    this.#mostFailing *= 2;
    return `fails on every question: the last ${this.#failing.size}, all different, had no answer ("${failure}")`;
  }

  /** Forgets failures: it answers, or somebody has looked. */
  forgive(): void {
    this.#busy = { times: 0, waitedMs: 0 };
    this.#restMs = 0;
    this.#failing.clear();
  }
}

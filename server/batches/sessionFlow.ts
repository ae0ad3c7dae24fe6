import { MOST_BUSY_MS, Slots } from "@/server/lib/slots";
import type { Attempt } from "./batchAttempt";

/** Consecutive failures of different questions after which the cause is not the questions. */
const MOST_FAILING = 20;

/** The slots of a session's engine, and the detection of an engine that answers no question. */
export class SessionFlow extends Slots {
  /** Questions that failed since its last answer. */
  readonly #failing = new Set<number>();
  #mostFailing = MOST_FAILING;

  /** Counts the outcome of an attempt at a question, and frees its slot. */
  end(position: number, attempt: Attempt): void {
    this.release(attempt);
    if (attempt.kind === "answered") {
      this.#mostFailing = MOST_FAILING;
      this.#failing.clear();
    } else if (attempt.kind === "failed" && !attempt.isGone) this.#failing.add(position);
  }

  /**
   * Why no more calls may be made before a user has checked, reported after the count of `end` and once each time; null if calls continue.
   *
   * @param failure of the last attempt, in a few words.
   * @param left questions that have not ended. If most of them are those that failed, they may be the hard ones, and little else can be
   * lost.
   */
  fault(failure: string, left: number): string | null {
    if (this.busyMs >= MOST_BUSY_MS) return `has only asked to wait for ${Math.round(this.busyMs / 60_000)} minutes`;
    if (this.#failing.size < this.#mostFailing || left < 2 * this.#failing.size) return null;
    // A user who resumes without a change knows that questions fail.
    this.#mostFailing *= 2;
    return `fails on every question: the last ${this.#failing.size}, all different, had no answer ("${failure}")`;
  }

  /** Forgets failures: a user has checked. */
  forgive(): void {
    this.resetFailures();
    this.#failing.clear();
  }
}

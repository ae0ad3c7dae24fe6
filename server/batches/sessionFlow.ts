import { MOST_BUSY_MS, Slots } from "@/server/lib/slots";
import type { Attempt } from "./batchAttempt";

/** Different questions in a row that failed, after which it is not the questions. */
const MOST_FAILING = 20;

/** The slots of a session's engine, and whether it answers any question. */
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
   * Why nothing more is to be asked before somebody has looked, told after what `end` counted and once for each time; null where it is asked on.
   *
   * @param failure of the last attempt, in a few words.
   * @param left questions that are not over. Where most of them are those that failed, they may be what was hard all along, and little else is there to be lost.
   */
  fault(failure: string, left: number): string | null {
    if (this.busyMs >= MOST_BUSY_MS) return `has only asked to wait for ${Math.round(this.busyMs / 60_000)} minutes`;
    if (this.#failing.size < this.#mostFailing || left < 2 * this.#failing.size) return null;
    // Whoever resumes it as it is knows that questions fail.
    this.#mostFailing *= 2;
    return `fails on every question: the last ${this.#failing.size}, all different, had no answer ("${failure}")`;
  }

  /** Forgets failures: somebody has looked. */
  forgive(): void {
    this.resetFailures();
    this.#failing.clear();
  }
}

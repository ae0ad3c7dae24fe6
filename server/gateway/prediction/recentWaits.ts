import { quantile } from "@/solver/numeric/quantile";

/** Number of the latest waits that count. */
const MOST = 64;

/** The distribution of the latest waits for an engine, without a clock. */
export class RecentWaits {
  readonly #latest: number[] = [];
  #next = 0;

  note(ms: number): void {
    this.#latest[this.#next] = ms;
    this.#next = (this.#next + 1) % MOST;
  }

  /** The wait, in wall milliseconds, that a share of the latest ones did not exceed, 0..1; null until one was noted. */
  quantile(share: number): number | null {
    return this.#latest.length === 0 ? null : quantile(this.#latest, share);
  }
}

import { Throughput } from "./throughput";

/** How fast each lane of a job goes, and all together. Times are milliseconds of a clock that only goes forward. */
export class LaneSpeeds {
  readonly #lanes: readonly Throughput[];
  readonly #all = new Throughput();
  readonly #requestsPerMinute: number | null;

  /** @param lanes the last is of work done here. @param requestsPerMinute of all lanes but that; null: no limit. */
  constructor(lanes: number, requestsPerMinute: number | null) {
    this.#lanes = Array.from({ length: lanes }, () => new Throughput());
    this.#requestsPerMinute = requestsPerMinute;
  }

  /** The job continues: earlier calls no longer count. */
  begin(nowMs: number): void {
    for (const one of [this.#all, ...this.#lanes]) one.begin(nowMs);
  }

  ended(lane: number, nowMs: number): void {
    this.#all.ended(nowMs);
    this.#lanes[lane]?.ended(nowMs);
  }

  /** Calls of all lanes; null: nothing ended lately, or it has only begun. */
  perMinute(nowMs: number): number | null {
    return this.#all.perMinute(nowMs);
  }

  /** Time until the last lane has finished its remaining calls; null: the speed of a lane with remaining calls is unknown. */
  etaSeconds(leftOf: (lane: number) => number, nowMs: number): number | null {
    const left = this.#lanes.map((_, lane) => leftOf(lane));
    let seconds = this.#requestsPerMinute === null ? 0 : (60 * sum(left.slice(0, -1))) / this.#requestsPerMinute;
    for (const [lane, speed] of this.#lanes.entries()) {
      const calls = left[lane] ?? 0;
      if (calls === 0) continue;
      const perMinute = speed.perMinute(nowMs);
      if (perMinute === null) return null;
      seconds = Math.max(seconds, (60 * calls) / perMinute);
    }
    return seconds;
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

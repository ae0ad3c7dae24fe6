/** Window of the calls that determine a job's displayed speed. */
const WINDOW_SECONDS = 120;

/** How fast a job goes, over the last minutes. Times are milliseconds of a clock that only goes forward. */
export class Throughput {
  readonly #perSecond = new Float64Array(WINDOW_SECONDS);
  #sinceSecond: number | null = null;
  #second = 0;
  #sum = 0;

  /** The job continues: earlier calls no longer count. */
  begin(nowMs: number): void {
    this.#perSecond.fill(0);
    this.#sum = 0;
    this.#second = Math.floor(nowMs / 1000);
    this.#sinceSecond = this.#second;
  }

  ended(nowMs: number): void {
    this.#advance(nowMs);
    const at = this.#second % WINDOW_SECONDS;
    this.#perSecond[at] = (this.#perSecond[at] ?? 0) + 1;
    this.#sum += 1;
  }

  /** null: nothing ended lately, or it has only begun. */
  perMinute(nowMs: number): number | null {
    if (this.#sinceSecond === null) return null;
    this.#advance(nowMs);
    const seconds = Math.min(WINDOW_SECONDS, this.#second - this.#sinceSecond + 1);
    return this.#sum === 0 || seconds < 2 ? null : (60 * this.#sum) / seconds;
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    for (let at = Math.max(this.#second + 1, second - WINDOW_SECONDS + 1); at <= second; at += 1) {
      this.#sum -= this.#perSecond[at % WINDOW_SECONDS] ?? 0;
      this.#perSecond[at % WINDOW_SECONDS] = 0;
    }
    this.#second = Math.max(this.#second, second);
  }
}

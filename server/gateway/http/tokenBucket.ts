/** Lets a rate through: at most a minute's worth at once, then one after the other as the minute goes. */
export class TokenBucket {
  readonly perMinute: number;
  #tokens: number;
  #filledMs: number;

  constructor(perMinute: number, nowMs: number) {
    this.perMinute = perMinute;
    this.#tokens = perMinute;
    this.#filledMs = nowMs;
  }

  /** Takes one; returns 0, or the seconds until there is one where there is none. */
  take(nowMs: number): number {
    const perMs = this.perMinute / 60_000;
    this.#tokens = Math.min(this.perMinute, this.#tokens + (nowMs - this.#filledMs) * perMs);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return (1 - this.#tokens) / perMs / 1000;
    this.#tokens -= 1;
    return 0;
  }
}

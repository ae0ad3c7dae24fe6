/** Counts how often in a row an engine was up and then gone without an answer in between. */
export class FruitlessTries {
  readonly #most: number;
  #times = 0;
  /** Of these, the tries for which the engine had been started because it was not running. */
  #started = 0;
  #answers = 0;
  #reason = "";

  /** @param most limit after which a user must check. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * The engine is gone.
   * @param reason how that was reported, for example "answered 401".
   */
  gone(reason: string): void {
    this.#reason = reason;
  }

  /**
   * The number including the try that is about to end; 0: it has answered.
   * @param answers of its session so far.
   */
  timesAt(answers: number): number {
    return answers > this.#answers ? 0 : this.#times + 1;
  }

  /**
   * Records the end of a try.
   *
   * @param tried `answers` of its session so far, whether the engine `wasStarted` for it, and calls still `underWay`, which a running
   *   engine may answer.
   * @returns why no more calls may be made before a user has checked, reported once; null if calls continue.
   */
  end({ answers, wasStarted, underWay }: { answers: number; wasStarted: boolean; underWay: number }): string | null {
    this.#times = this.timesAt(answers);
    this.#started = this.#times === 0 ? 0 : this.#started + (wasStarted ? 1 : 0);
    this.#answers = answers;
    const hadToBeStarted = this.#started >= this.#most;
    if (this.#times < this.#most || (underWay > 0 && !hadToBeStarted)) return null;
    const how = hadToBeStarted
      ? `was brought up ${this.#started} times and gone without one answer`
      : `was up each of the last ${this.#times} times, and answered nothing that it was asked`;
    this.#times = 0;
    this.#started = 0;
    return `${how} (last: ${this.#reason})`;
  }
}

/** Waits after so many failures in a row, doubling from a second up to half a minute. */
export const backoffMs = (failures: number): number => Math.min(30_000, 1000 * 2 ** Math.max(0, failures - 1));

/** An upstream that has only asked to wait for this long needs a user's attention. */
export const MOST_BUSY_MS = 600_000;

/** What an answer adds to how many calls may be under way, where an upstream has asked to wait. */
const WIDER = 0.25;

/** How an attempt ended, as an upstream's slots see it. */
export type SlotOutcome =
  | { readonly kind: "answered" | "failed" | "cut" }
  /** It asks to wait, without a word of how long where that is null. */
  | { readonly kind: "busy"; readonly waitSeconds: number | null };

/** How many calls may be under way at an upstream: fewer while it asks to wait, more again as it answers. */
export class Slots {
  readonly #most: number;
  #width: number;
  #underWay = 0;
  /** Since its last answer: how often it asked to wait with nothing under way, and for how long that was waited. */
  #busy = { times: 0, waitedMs: 0 };
  #restMs = 0;

  /** @param most at most under way at once. */
  constructor(most: number) {
    this.#most = most;
    this.#width = most;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get hasRoom(): boolean {
    return this.#underWay < Math.floor(this.#width);
  }

  /** Milliseconds waited since its last answer, as it was too busy for anything. */
  get busyMs(): number {
    return this.#busy.waitedMs;
  }

  /** Wall milliseconds to wait before the next call; returned once. */
  takeRest(): number {
    const restMs = this.#restMs;
    this.#restMs = 0;
    return restMs;
  }

  begin(): void {
    this.#underWay += 1;
  }

  release(outcome: SlotOutcome): void {
    this.#underWay -= 1;
    if (outcome.kind === "answered") {
      this.#width = Math.min(this.#most, this.#width + WIDER);
      this.#forgetWaits();
    } else if (outcome.kind === "busy") this.#slowDown(outcome.waitSeconds);
  }

  /** An operator resumes the work: what was learnt of the upstream may not hold any more. */
  resetFailures(): void {
    this.#width = this.#most;
    this.#forgetWaits();
  }

  #forgetWaits(): void {
    this.#busy = { times: 0, waitedMs: 0 };
    this.#restMs = 0;
  }

  /** It is left alone for as long as it asks. Without a word of how long it takes as many as are under way; with none it is left alone for longer each time. */
  #slowDown(waitSeconds: number | null): void {
    this.#width = Math.max(1, this.#underWay);
    const askedMs = 1000 * (waitSeconds ?? 0);
    if (this.#underWay > 0) {
      this.#restMs = Math.max(this.#restMs, askedMs);
      return;
    }
    const times = this.#busy.times + 1;
    this.#restMs = Math.max(askedMs, backoffMs(times));
    this.#busy = { times, waitedMs: this.#busy.waitedMs + this.#restMs };
  }
}

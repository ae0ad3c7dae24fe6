import { Notifier } from "@/server/lib/notifier";

/**
 * The remaining questions of a model. A question whose engine died during its call is repeated after all others and alone, since the
 * question may be the cause.
 */
export class CallQueue {
  readonly #fresh: number[];
  #next = 0;
  #closed = false;
  readonly #again: number[] = [];
  readonly #alone: number[] = [];
  readonly #delayed = new Map<number, NodeJS.Timeout>();
  readonly #changes = new Notifier();
  #out = 0;

  constructor(positions: readonly number[] = []) {
    this.#fresh = [...positions];
  }

  get left(): number {
    return this.#fresh.length - this.#next + this.#again.length + this.#alone.length + this.#delayed.size + this.#out;
  }

  add(position: number): void {
    this.#fresh.push(position);
  }

  /** null: there is none now. */
  take(): number | null {
    const position = this.#again.shift() ?? this.#takeFresh() ?? this.#takeAlone();
    if (position === undefined) return null;
    this.#out += 1;
    return position;
  }

  #takeFresh(): number | undefined {
    const position = this.#fresh[this.#next];
    if (position !== undefined) this.#next += 1;
    return position;
  }

  #takeAlone(): number | undefined {
    return this.#out > 0 || this.#delayed.size > 0 ? undefined : this.#alone.shift();
  }

  /** A question that was taken has ended. */
  end(): void {
    this.#out -= 1;
    this.wake();
  }

  /** A question that was taken must be asked again. */
  giveBack(position: number, afterMs: number): void {
    this.#out -= 1;
    const back = (): void => {
      this.#delayed.delete(position);
      this.#again.push(position);
      this.wake();
    };
    if (afterMs === 0 || this.#closed) back();
    else this.#delayed.set(position, setTimeout(back, afterMs));
  }

  /** A question that was taken must be asked again when no other is in flight. */
  setApart(position: number): void {
    this.#out -= 1;
    this.#alone.push(position);
    this.wake();
  }

  /** Resolves when the result of `take` may have changed. */
  changed(): Promise<void> {
    return this.#changes.notified();
  }

  /** Wakes the waiting callers. */
  wake(): void {
    this.#changes.notify();
  }

  /** Ends the automatic retries. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    this.wake();
  }
}

import { Notifier } from "@/server/lib/notifier";

/**
 * Questions that a model is yet to be asked. One whose engine died under it is asked again after all others and by itself, since the question
 * may be what it died of.
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

  /** null: there is none to be asked now. */
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

  /** One that was taken is over. */
  end(): void {
    this.#out -= 1;
    this.wake();
  }

  /** One that was taken is to be asked once more. */
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

  /** One that was taken is to be asked once more when no other is. */
  setApart(position: number): void {
    this.#out -= 1;
    this.#alone.push(position);
    this.wake();
  }

  /** Resolves when `take` may answer otherwise. */
  changed(): Promise<void> {
    return this.#changes.notified();
  }

  /** Has whoever waits look again. */
  wake(): void {
    this.#changes.notify();
  }

  /** Nothing is asked again by itself any more. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    this.wake();
  }
}

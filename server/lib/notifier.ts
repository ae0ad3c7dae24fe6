/** Wakes all who wait for something to change. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next call of `notify`. */
  notified(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  notify(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

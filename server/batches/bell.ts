/** Wakes all who wait for something to change. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next ring. */
  rung(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  ring(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

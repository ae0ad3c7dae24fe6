/** Runs changes one after the other, each on what the one before left. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `change` does, once those before it have settled. */
  take<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change, change);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

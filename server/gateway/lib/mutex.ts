/** Runs changes one at a time, each on the state that the previous one left. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `change` does, once the changes before it have settled. */
  run<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change, change);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

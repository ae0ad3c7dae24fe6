/** Lets so many in at once, in order of their coming; who aborts while waiting leaves the queue at once. */
export function createLane(most: number) {
  let free = most;
  const waiting: (() => void)[] = [];
  return {
    async enter(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = (): void => {
          waiting.splice(waiting.indexOf(begin), 1);
          reject(signal.reason);
        };
        waiting.push(begin);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
    leave(): void {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}

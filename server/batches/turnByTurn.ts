import { setImmediate as nextTurn } from "node:timers/promises";

/** Waits for a turn of the event loop that nobody else who waits here gets, so that work in pieces holds it for one piece at a time, however much work there is. */
export function turnByTurn(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}

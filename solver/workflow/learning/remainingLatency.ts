import type { ObservedCall } from "./observedCall";

/** An event at a time: a call arrives, is sent to an engine, or ends. */
interface Instant {
  readonly atSeconds: number;
  readonly waiting: -1 | 0 | 1;
  readonly serving: -1 | 0 | 1;
  /** The call that is dispatched; -1 for none. */
  readonly dispatched: number;
}

/**
 * Seconds from each call's dispatch to the last answer of its program, without the time in which every call in flight waited in a queue:
 * that time is caused by the order itself. The client's time between calls counts (Kairos, section 4.3).
 *
 * @param calls of one program, in any order; times finite, none dispatched before it arrived or finished before it was dispatched.
 */
export function remainingLatency(calls: readonly ObservedCall[]): Float64Array {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return Float64Array.of(only.finishedSeconds - only.dispatchedSeconds);
  const instants = calls.flatMap(({ arrivedSeconds, dispatchedSeconds, finishedSeconds }, at): readonly Instant[] => [
    { atSeconds: arrivedSeconds, waiting: 1, serving: 0, dispatched: -1 },
    { atSeconds: dispatchedSeconds, waiting: -1, serving: 1, dispatched: at },
    { atSeconds: finishedSeconds, waiting: 0, serving: -1, dispatched: -1 },
  ]);
  instants.sort((a, b) => a.atSeconds - b.atSeconds);

  /** Time so far in which calls were in flight and all of them waited. */
  let heldSeconds = 0;
  const heldBefore = new Float64Array(calls.length);
  let [waiting, serving, lastSeconds] = [0, 0, 0];
  for (const instant of instants) {
    if (waiting > 0 && serving === 0) heldSeconds += instant.atSeconds - lastSeconds;
    lastSeconds = instant.atSeconds;
    waiting += instant.waiting;
    serving += instant.serving;
    if (instant.dispatched >= 0) heldBefore[instant.dispatched] = heldSeconds;
  }
  return Float64Array.from(calls, ({ dispatchedSeconds }, at) =>
    Math.max(0, lastSeconds - dispatchedSeconds - (heldSeconds - (heldBefore[at] ?? 0))),
  );
}

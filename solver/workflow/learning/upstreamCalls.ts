import type { ObservedCall } from "./observedCall";

/** The predecessors of each call of a program. */
export interface UpstreamCalls {
  /** By index into the calls, ascending; empty for the program's first calls. */
  readonly parents: readonly (readonly number[])[];
  /** Calls that named an agent without an earlier call in the program. */
  readonly missing: number;
}

/**
 * Finds the answers that each call follows. An agent's name refers to its latest call that had ended when this one arrived, else to its
 * latest that had arrived; a name given several times, to as many of its latest. Where calls of that name ran in parallel with that one,
 * in branches of the same agents, the name refers to the one that ended first among those that no call of this call's agent follows yet:
 * each branch then goes on by itself, in the order in which the branches got there. Without a name it is the call that ended last
 * (ChatDev's rule). A call without any predecessor is one of the program's first calls.
 *
 * @param calls of one program, in the order of arrival: a call's predecessors are always before it.
 */
export function upstreamCalls(calls: readonly ObservedCall[], resolutionSeconds: number): UpstreamCalls {
  const byEnd = Array.from(calls.keys()).sort((a, b) => finished(calls, a) - finished(calls, b) || a - b);
  const ended: number[] = [];
  const endedOfAgent = new Map<string, number[]>();
  const cameOfAgent = new Map<string, number[]>();
  const noteEnd = (call: number): void => {
    ended.push(call);
    pushTo(endedOfAgent, calls[call]?.agent ?? "", call);
  };

  /** Names of the agents that follow each call so far. */
  const followers = calls.map(() => new Set<string>());
  /** Ended, according to the clock, before they have arrived. */
  const passed = new Set<number>();
  let next = 0;
  let missing = 0;
  const parents = calls.map((call, at) => {
    // A call whose end is within the clock's resolution may have been the one it waited for.
    for (; next < byEnd.length && finished(calls, byEnd[next] ?? 0) <= call.arrivedSeconds + resolutionSeconds; next += 1) {
      const other = byEnd[next] ?? 0;
      if (other < at) noteEnd(other);
      else passed.add(other);
    }
    const found = new Set<number>();
    for (const agent of call.upstream) {
      const over = endedOfAgent.get(agent) ?? [];
      const branches = parallelWithLatest(calls, over, resolutionSeconds);
      const parent =
        branches.find((other) => !found.has(other) && !followers[other]?.has(call.agent)) ??
        latestNotIn(found, over) ??
        latestNotIn(found, cameOfAgent.get(agent));
      if (parent !== undefined) found.add(parent);
    }
    if (found.size < call.upstream.length) missing += 1;
    const last = ended.at(-1);
    if (call.upstream.length === 0 && last !== undefined) found.add(last);
    pushTo(cameOfAgent, call.agent, at);
    for (const parent of found) followers[parent]?.add(call.agent);
    if (passed.has(at)) noteEnd(at);
    return [...found].sort((a, b) => a - b);
  });
  return { parents, missing };
}

/**
 * The calls that ran in parallel with the latest to end, directly or through others, and that one, in the order in which they ended; empty
 * where none did.
 *
 * @param ended calls of one agent, in that order.
 */
function parallelWithLatest(calls: readonly ObservedCall[], ended: readonly number[], resolutionSeconds: number): readonly number[] {
  let first = ended.length;
  let fromSeconds = Number.NEGATIVE_INFINITY;
  while (first > 0) {
    const call = ended[first - 1] ?? 0;
    if (first < ended.length && finished(calls, call) <= fromSeconds + resolutionSeconds) break;
    const { arrivedSeconds = 0 } = calls[call] ?? {};
    fromSeconds = first === ended.length ? arrivedSeconds : Math.min(fromSeconds, arrivedSeconds);
    first -= 1;
  }
  return ended.length - first > 1 ? ended.slice(first) : [];
}

/** The names of one call are few, and so are the steps back. */
const latestNotIn = (found: ReadonlySet<number>, calls: readonly number[] | undefined): number | undefined =>
  calls?.findLast((call) => !found.has(call));

const finished = (calls: readonly ObservedCall[], at: number): number => calls[at]?.finishedSeconds ?? 0;

function pushTo(lists: Map<string, number[]>, key: string, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

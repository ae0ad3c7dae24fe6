import type { ObservedCall } from "./observedCall";

/** What came before each call of a program. */
export interface UpstreamCalls {
  /** By index into the calls, ascending; empty for the program's beginnings. */
  readonly parents: readonly (readonly number[])[];
  /** Calls that named an agent which no earlier call of the program was of. */
  readonly missing: number;
}

/**
 * Finds which answers each call follows. An agent's name means its latest call that had ended when this one came, else its latest that had come; named
 * several times, as many of its latest. Where no name is given it is the call that ended last (ChatDev's rule). A call of which nothing is found is one of
 * the program's beginnings.
 *
 * @param calls of one program, in the order in which they came: what a call follows is always before it.
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

  /** Over, as the clock has it, before they have come. */
  const passed = new Set<number>();
  let next = 0;
  let missing = 0;
  const parents = calls.map((call, at) => {
    // Whose end is within the clock's resolution may have been what it waited for.
    for (; next < byEnd.length && finished(calls, byEnd[next] ?? 0) <= call.arrivedSeconds + resolutionSeconds; next += 1) {
      const other = byEnd[next] ?? 0;
      if (other < at) noteEnd(other);
      else passed.add(other);
    }
    const found = new Set<number>();
    for (const agent of call.upstream) {
      const parent = latestNotIn(found, endedOfAgent.get(agent)) ?? latestNotIn(found, cameOfAgent.get(agent));
      if (parent !== undefined) found.add(parent);
    }
    if (found.size < call.upstream.length) missing += 1;
    const last = ended.at(-1);
    if (call.upstream.length === 0 && last !== undefined) found.add(last);
    pushTo(cameOfAgent, call.agent, at);
    if (passed.has(at)) noteEnd(at);
    return [...found].sort((a, b) => a - b);
  });
  return { parents, missing };
}

/** Names of one call are few, and so are the steps back. */
const latestNotIn = (found: ReadonlySet<number>, calls: readonly number[] | undefined): number | undefined =>
  calls?.findLast((call) => !found.has(call));

const finished = (calls: readonly ObservedCall[], at: number): number => calls[at]?.finishedSeconds ?? 0;

function pushTo(lists: Map<string, number[]>, key: string, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

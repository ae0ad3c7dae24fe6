/** A record's data on a request's way: the models it waited for, from when until when, in seconds of one clock. */
export interface WaitingRecord {
  /** As `application/agent`; left out where it is not named. */
  readonly agent?: string | undefined;
  readonly stages: readonly {
    readonly model: string;
    /** Left out where the times were not recorded. */
    readonly at?: { readonly queued: number; readonly dispatched: number } | undefined;
  }[];
}

export interface WaitTimes {
  /** Who waited and who was dispatched meanwhile, most seconds first; null: an unnamed agent. */
  readonly pairs: readonly WaitedPair[];
  /** The total waiting time. */
  readonly waitedSeconds: number;
  /** The part of it that ended with the request's own dispatch, not another's: waiting for room. */
  readonly roomSeconds: number;
  /** Number of records without times, and without an agent. */
  readonly untimed: number;
  readonly unnamed: number;
}

interface WaitedPair {
  readonly waiter: string | null;
  readonly ahead: string | null;
  /** Number of dispatches of `ahead` while `waiter` waited for the same model. */
  readonly passes: number;
  /** The waiting time that ended with these dispatches: the free room went to them. */
  readonly seconds: number;
}

/**
 * Who waited for whom. A wait is divided where others are dispatched to the same model: each piece counts for the one whose dispatch ends
 * it, and the last is the request's own, so that the pieces of all pairs and `roomSeconds` sum to `waitedSeconds`. Dispatches exactly at
 * the beginning or the end of the wait are not within it.
 */
export function waitTimes(records: readonly WaitingRecord[]): WaitTimes {
  const agents = [...new Set(records.map(({ agent }) => agent ?? null))];
  const indexOf = new Map(agents.map((agent, at) => [agent, at]));
  const waits = records.flatMap(({ agent, stages }) =>
    stages.flatMap(({ model, at }) => (at === undefined ? [] : { agent: indexOf.get(agent ?? null) ?? 0, model, ...at })),
  );
  const found = new Map<number, { passes: number; seconds: number }>();
  let waitedSeconds = 0;
  let roomSeconds = 0;
  for (const model of new Set(waits.map((wait) => wait.model))) {
    const ofModel = waits.filter((wait) => wait.model === model);
    const dispatches = ofModel.toSorted((a, b) => a.dispatched - b.dispatched);
    for (const { agent, queued, dispatched } of ofModel) {
      waitedSeconds += dispatched - queued;
      let since = queued;
      for (let at = firstAfter(dispatches, queued); at < dispatches.length; at += 1) {
        const other = dispatches[at];
        if (other === undefined || other.dispatched >= dispatched) break;
        const key = agent * agents.length + other.agent;
        const pair = found.get(key) ?? { passes: 0, seconds: 0 };
        pair.passes += 1;
        pair.seconds += other.dispatched - since;
        found.set(key, pair);
        since = other.dispatched;
      }
      roomSeconds += dispatched - since;
    }
  }
  const pairs = Array.from(found, ([key, pair]) => ({
    waiter: agents[Math.floor(key / agents.length)] ?? null,
    ahead: agents[key % agents.length] ?? null,
    ...pair,
  }));
  return {
    pairs: pairs.sort((a, b) => b.seconds - a.seconds || b.passes - a.passes),
    waitedSeconds,
    roomSeconds,
    untimed: records.filter(({ stages }) => !stages.some(({ at }) => at !== undefined)).length,
    unnamed: records.filter(({ agent }) => agent === undefined).length,
  };
}

/** Index of the first that was dispatched later than that. */
function firstAfter(dispatches: readonly { readonly dispatched: number }[], seconds: number): number {
  let [low, high] = [0, dispatches.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((dispatches[middle]?.dispatched ?? 0) > seconds) high = middle;
    else low = middle + 1;
  }
  return low;
}

import type { Place, Slots } from "../core/policyParts";
import { isNewer } from "../core/readingTime";
import { leastLoadPlace } from "./leastLoadPlace";

/** The requests in flight at a model's replicas when their latest readings were first seen. */
interface Seen {
  readonly readAtSeconds: Float64Array;
  readonly inFlight: Int32Array;
}

/**
 * The replica with the least used KV cache. A reading does not include requests sent since, so each request sent since counts as one
 * more share of the replica's capacity; without that all requests between two readings would go to one replica.
 *
 * Where the reading of any replica that takes work is stale, absent or unreachable, it places by least load and reports that: an unknown
 * cache cannot be compared, and is not an empty one.
 */
export function lowestKvPlace(): Place {
  const seenOf = new WeakMap<Slots, Seen>();

  function seenIn(slots: Slots): Seen {
    const known = seenOf.get(slots);
    if (known !== undefined) return known;
    const count = slots.replicaIds.length;
    const seen = { readAtSeconds: new Float64Array(count).fill(Number.NEGATIVE_INFINITY), inFlight: new Int32Array(count) };
    seenOf.set(slots, seen);
    return seen;
  }

  const degraded = ({ kvUse, capacity }: Slots): string | null =>
    kvUse.some(({ state }, index) => state !== "fresh" && (capacity[index] ?? 0) > 0) ? "no-fresh-kv-use-so-least-load" : null;

  return {
    kind: "lowest-kv",
    needs: ["kv-telemetry"],
    degraded,
    choose(slots, _work, nowSeconds) {
      if (degraded(slots) !== null) return leastLoadPlace.choose(slots);
      const seen = seenIn(slots);
      let best = -1;
      let bestUse = Number.POSITIVE_INFINITY;
      for (const [index, reading] of slots.kvUse.entries()) {
        if (reading.state !== "fresh") continue;
        const inFlight = slots.inFlight[index] ?? 0;
        const capacity = slots.capacity[index] ?? 0;
        const readAtSeconds = nowSeconds - reading.ageSeconds;
        if (isNewer(readAtSeconds, seen.readAtSeconds[index] ?? 0)) {
          seen.readAtSeconds[index] = readAtSeconds;
          seen.inFlight[index] = inFlight;
        }
        const use = reading.value + Math.max(0, inFlight - (seen.inFlight[index] ?? 0)) / capacity;
        if (inFlight < capacity && use < bestUse) {
          best = index;
          bestUse = use;
        }
      }
      return best;
    },
  };
}

import type { Place, Slots } from "../core/policyParts";

/**
 * The replica with the least in flight relative to its capacity; among equals the first in the driver's list. In-flight
 * counts are the driver's own and immediately exact, so there is none of the herding that scraped load causes.
 */
export const leastLoadPlace = {
  kind: "least-load",
  needs: [],
  choose({ inFlight, capacity }: Pick<Slots, "inFlight" | "capacity">) {
    let best = -1;
    let bestInFlight = 0;
    let bestCapacity = 1;
    for (let index = 0; index < capacity.length; index += 1) {
      const load = inFlight[index] ?? 0;
      const room = capacity[index] ?? 0;
      // load/room < best/bestRoom without a division; room > load >= 0 keeps both denominators positive.
      if (load < room && (best < 0 || load * bestCapacity < bestInFlight * room)) {
        best = index;
        bestInFlight = load;
        bestCapacity = room;
      }
    }
    return best;
  },
} satisfies Place;

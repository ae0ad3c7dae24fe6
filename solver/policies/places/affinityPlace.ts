import { BoundedMap } from "@/solver/collections/boundedMap";
import type { Place } from "../core/policyParts";

/**
 * A program's requests return to the replica of the model that served its last one, whose cache still holds their common prefix, as
 * long as that replica has room and is at most `ratio` busier than the one that `place` would choose (0.5: by half), each counted with the
 * request itself. Otherwise the request, and its program's next ones, go where `place` chooses.
 */
export function affinityPlace(place: Place, { ratio }: { readonly ratio: number }): Place {
  const lastReplicas = new BoundedMap<Map<string, string>>();
  return {
    kind: place.kind,
    needs: [...place.needs, "identifiers"],
    ...(place.degraded && { degraded: (slots) => place.degraded?.(slots) ?? null }),
    choose(slots, work, nowSeconds) {
      const best = place.choose(slots, work, nowSeconds);
      const { model, replicaIds, inFlight, capacity } = slots;
      const own = lastReplicas.get(work.programId) ?? new Map<string, string>();
      const last = replicaIds.indexOf(own.get(model) ?? "");
      const load = (index: number): number => ((inFlight[index] ?? 0) + 1) / (capacity[index] ?? 0);
      const stays = last >= 0 && (inFlight[last] ?? 0) < (capacity[last] ?? 0) && load(last) <= (1 + ratio) * load(best);
      const chosen = stays ? last : best;
      const replicaId = replicaIds[chosen];
      if (replicaId !== undefined) lastReplicas.put(work.programId, own.set(model, replicaId));
      return chosen;
    },
    observe(event) {
      place.observe?.(event);
      if (event.kind === "ended") lastReplicas.delete(event.programId);
    },
  };
}

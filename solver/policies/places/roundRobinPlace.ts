import type { Place, Slots } from "../core/policyParts";

/** Replicas of a model in turn, skipping those without room. The baseline dispatch of the source (Cascadia, appendix B). */
export function roundRobinPlace() {
  const nextByModel = new Map<string, number>();
  return {
    kind: "round-robin",
    needs: [],
    choose(slots: Omit<Slots, "kvUse" | "kvTokens" | "preemptions">) {
      const count = slots.replicaIds.length;
      const start = nextByModel.get(slots.model) ?? 0;
      for (let step = 0; step < count; step += 1) {
        const index = (start + step) % count;
        if ((slots.inFlight[index] ?? 0) < (slots.capacity[index] ?? 0)) {
          nextByModel.set(slots.model, index + 1);
          return index;
        }
      }
      return -1;
    },
  } satisfies Place;
}

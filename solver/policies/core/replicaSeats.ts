import type { Reading, ReplicaView } from "./policy";
import type { Slots } from "./policyParts";

/** A model's replicas among those of a view, with the slots in which each decision counts. */
export interface Seats {
  readonly replicas: readonly ReplicaView[];
  readonly slots: Slots & { readonly kvUse: Reading[]; readonly kvTokens: (number | null)[]; readonly preemptions: Reading[] };
}

/** Seats at the model's replicas; `refreshed` fills their counts. */
export function seatsOf(model: string, all: readonly ReplicaView[]): Seats {
  const replicas = all.filter((replica) => replica.model === model);
  return {
    replicas,
    slots: {
      model,
      replicaIds: replicas.map((replica) => replica.id),
      inFlight: new Int32Array(replicas.length),
      capacity: new Int32Array(replicas.length),
      kvUse: replicas.map((replica) => replica.kvUse),
      kvTokens: replicas.map(() => null),
      preemptions: replicas.map(() => absent),
    },
  };
}

const absent: Reading = { state: "absent" };

/** The maximum count of slots; a replica that holds any number at once has this capacity. */
const MOST_IN_FLIGHT = 2 ** 31 - 1;

/** Slots with the current state of the replicas. */
export function refreshed({ replicas, slots }: Seats): Slots {
  for (const [index, replica] of replicas.entries()) {
    slots.inFlight[index] = replica.inFlight;
    slots.capacity[index] = replica.accepting ? Math.min(replica.maxInFlight, MOST_IN_FLIGHT) : 0;
    slots.kvUse[index] = replica.kvUse;
    slots.kvTokens[index] = replica.kvTokens ?? null;
    slots.preemptions[index] = replica.preemptions ?? absent;
  }
  return slots;
}

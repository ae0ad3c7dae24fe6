import type { ReplicaView } from "../core/policy";

interface Engines<R> {
  readonly pool: { readonly replicas: readonly R[] };
  /** Requests that wait for an engine, by model. */
  readonly queued: ReadonlyMap<string, number>;
}

/**
 * The engine for work with a lower priority than live requests: the least filled engine of the model that stays at least half empty with
 * one more request; undefined if there is none or anything waits for the model.
 */
export function spareReplica<R extends ReplicaView>(model: string, { pool, queued }: Engines<R>): R | undefined {
  if ((queued.get(model) ?? 0) > 0) return undefined;
  let best: R | undefined;
  let least = 0.5;
  for (const replica of pool.replicas) {
    const filled = (replica.inFlight + 1) / replica.maxInFlight;
    if (replica.model !== model || !replica.accepting || filled > least || (filled === least && best !== undefined)) continue;
    best = replica;
    least = filled;
  }
  return best;
}

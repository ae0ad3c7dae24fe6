import { BoundedMap } from "../../collections/boundedMap";

/**
 * Number of later calls that may take room which held-back work waits for, before a replica is kept for that work. In simulations of small
 * replicas under overload more of them lower the mean a little further and raise the P99 much: large calls starve.
 */
export const MOST_PASSES = 32;

/**
 * The work of a queue that a place held back: how often later calls went before it, and which replica is kept for it once that was
 * `MOST_PASSES` times: work is passed over, not waited for, until then.
 */
export class HeldWork {
  private readonly passes = new BoundedMap<number>();
  private readonly kept = new Map<string, string | null>();

  /** Ids of the work that is due, the one due longest first, with the replica that is kept for it; null: none yet. */
  get due(): ReadonlyMap<string, string | null> {
    return this.kept;
  }

  /** A later call went before it. @returns whether it is due from now on. */
  pass(workId: string): boolean {
    if (this.kept.has(workId)) return false;
    const passes = (this.passes.get(workId) ?? 0) + 1;
    if (passes < MOST_PASSES) {
      this.passes.put(workId, passes);
      return false;
    }
    this.passes.delete(workId);
    this.kept.set(workId, null);
    return true;
  }

  keep(workId: string, replicaId: string | null): void {
    this.kept.set(workId, replicaId);
  }

  /** It was sent, or left the queue. */
  forget(workId: string): void {
    this.kept.delete(workId);
    if (this.passes.has(workId)) this.passes.delete(workId);
  }

  /** The current state, to continue from without a change here. */
  copy(): HeldWork {
    const copy = new HeldWork();
    for (const [id, passes] of this.passes.items()) copy.passes.put(id, passes);
    for (const [id, replicaId] of this.kept) copy.kept.set(id, replicaId);
    return copy;
  }
}

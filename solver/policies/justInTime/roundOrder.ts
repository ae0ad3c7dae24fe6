import type { WaitingWork } from "../core/policy";
import type { Order } from "../core/policyParts";
import type { HeldWork } from "../waiting/heldWork";
import { ReleaseLog } from "../waiting/releaseQueue";

/**
 * The order in which rounds serve waiting requests. Without a preference it is the driver's: by the start of their programs. With one, the
 * most preferred go first, and before them, oldest first, all that S = `agingThreshold` dispatches have passed over. Requests that are due
 * go before all others.
 *
 * **Bound.** As in a `ReleaseQueue`, at most S + n dispatches, and those of one decision more, pass over a request that a free engine may
 * serve; n requests joined no later than it. A request that no free engine may serve is passed over without bound.
 */
export class RoundOrder {
  private readonly log: ReleaseLog | null;

  constructor(
    private readonly preference: Order["preference"],
    private readonly held: HeldWork,
  ) {
    this.log = preference === undefined ? null : new ReleaseLog(preference);
  }

  /** Whether requests leave in another order than that of the list. */
  get isOwn(): boolean {
    return this.preference !== undefined;
  }

  /** The order's key, for engines that order their waiting requests; undefined where it has none. */
  priorityOf(work: WaitingWork): number | undefined {
    return this.preference?.key(work);
  }

  /** A request was sent. */
  sent(nowSeconds: number): void {
    this.log?.note(nowSeconds);
  }

  /** The list in the order in which its requests are served. */
  ordered(waiting: readonly WaitingWork[]): readonly WaitingWork[] {
    const { preference, log, held } = this;
    if (preference === undefined && held.due.size === 0) return waiting;
    const due = new Map([...held.due.keys()].map((id, place) => [id, place]));
    const ranks = waiting.map((work, index) => {
      const place = due.get(work.id);
      if (place !== undefined) return { work, rank: 0, key: place, tie: 0, index };
      if (log?.passedOver(work.queuedSinceSeconds)) return { work, rank: 1, key: work.queuedSinceSeconds, tie: 0, index };
      return { work, rank: 2, key: preference?.key(work) ?? 0, tie: preference?.thenBy?.(work) ?? 0, index };
    });
    ranks.sort((a, b) => a.rank - b.rank || a.key - b.key || a.tie - b.tie || a.index - b.index);
    return ranks.map(({ work }) => work);
  }
}

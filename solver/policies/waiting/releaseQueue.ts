import { PositionHeap } from "../../collections/positionHeap";
import type { WaitingWork } from "../core/policy";
import type { Order, Preference } from "../core/policyParts";

/** Times of the latest releases from one model's queue, as many as may pass over waiting work before it goes first. */
export class ReleaseLog {
  private readonly seconds: Float64Array;
  private count = 0;

  constructor({ agingThreshold }: Pick<Preference, "agingThreshold">) {
    this.seconds = new Float64Array(agingThreshold);
  }

  /** The current state, to continue from without recording releases here. */
  copy(): ReleaseLog {
    const copy = new ReleaseLog({ agingThreshold: this.seconds.length });
    copy.seconds.set(this.seconds);
    copy.count = this.count;
    return copy;
  }

  note(nowSeconds: number): void {
    this.seconds[this.count % this.seconds.length] = nowSeconds;
    this.count += 1;
  }

  /** Whether as many releases as the log holds passed over work that has waited since then. */
  passedOver(queuedSinceSeconds: number): boolean {
    const { seconds, count } = this;
    return count >= seconds.length && queuedSinceSeconds <= (seconds[count % seconds.length] ?? 0);
  }
}

/**
 * The queued work of one model in the order in which it leaves: the most preferred first, but the oldest before it once
 * S = `agingThreshold` releases have passed over that (Chimera, section 3.7, for a queue that never sees released work again).
 *
 * **Bound.** At most S + n releases pass over a piece of work, where n is the number of waiting works that joined the queue no later: after
 * S releases it has aged, and so has all older work, as every release passed over that too; from then on only older work goes before it.
 * Later arrivals do not count, however many. The source orders aged work by predicted length; a burst of short requests that ages together
 * with a long one would then pass it without bound, so aged work leaves in order of arrival. The source's further starvation levels would
 * change nothing here: of two that wait the older has been passed over at least as often.
 *
 * A request that failed and returned keeps the time it first joined, and counts as older than all that joined after that.
 *
 * Keys are read anew for each decision, so that the order is that of the forecasts in force then, however long the work waits. Work that
 * its place holds back is set aside for the decision; the bound on that is in `placements.ts`, and adds to this one.
 */
export class ReleaseQueue {
  private readonly works: readonly WaitingWork[];
  private readonly preference: Preference | undefined;
  private readonly log: ReleaseLog | undefined;
  /** Positions by the time of joining; null: the works are in that order. */
  private readonly arrival: readonly number[] | null;
  /** Released, or set aside. */
  private readonly released: Uint8Array;
  private oldest = 0;
  private preferred: PositionHeap | null = null;
  /** Position of the next work; -1: not determined since the last release. */
  private shown = -1;

  /** @param log of the queue, where the order has a preference. */
  constructor(works: readonly WaitingWork[], { preference }: Pick<Order, "preference">, log: ReleaseLog | undefined) {
    this.works = works;
    this.preference = preference;
    this.log = log;
    this.arrival = byJoining(works);
    this.released = new Uint8Array(works.length);
  }

  /** The next work, unchanged until it is released; undefined when none is left. */
  peek(): WaitingWork | undefined {
    if (this.shown < 0) {
      while (this.oldest < this.works.length && this.released[this.oldestPosition()] === 1) this.oldest += 1;
      if (this.oldest === this.works.length) return undefined;
      this.shown = this.nextPosition();
    }
    return this.works[this.shown];
  }

  /** Releases the work that `peek` returned. */
  release(nowSeconds: number): void {
    this.releaseAt(this.shown, nowSeconds);
  }

  /** Passes over the work that `peek` returned: it is not released, and not returned again. */
  setAside(): void {
    this.setAsideAt(this.shown);
  }

  /** Positions of the named work in the list, in the order of the names; names of other queues' work are ignored. */
  positionsOf(ids: ReadonlyMap<string, unknown>): readonly number[] {
    const found = new Map<string, number>();
    for (let position = 0; position < this.works.length && found.size < ids.size; position += 1) {
      const { id } = this.works[position] as WaitingWork;
      if (ids.has(id)) found.set(id, position);
    }
    return Array.from(ids.keys(), (id) => found.get(id) ?? -1).filter((position) => position >= 0);
  }

  at(position: number): WaitingWork | undefined {
    return this.works[position];
  }

  releaseAt(position: number, nowSeconds: number): void {
    this.setAsideAt(position);
    this.log?.note(nowSeconds);
  }

  setAsideAt(position: number): void {
    this.released[position] = 1;
    this.shown = -1;
  }

  private oldestPosition(): number {
    return this.arrival === null ? this.oldest : (this.arrival[this.oldest] ?? -1);
  }

  private nextPosition(): number {
    const oldest = this.oldestPosition();
    const { preference, log } = this;
    if (preference === undefined || log?.passedOver(this.works[oldest]?.queuedSinceSeconds ?? 0)) return oldest;
    this.preferred ??= byPreference(this.works, preference);
    let position = this.preferred.pop();
    while (this.released[position] === 1) position = this.preferred.pop();
    return position < 0 ? oldest : position;
  }
}

/** Positions are the order of the list. */
function byPreference(works: readonly WaitingWork[], preference: Preference): PositionHeap {
  const keys = new Float64Array(works.length);
  const ties = new Float64Array(works.length);
  for (let position = 0; position < works.length; position += 1) {
    const work = works[position] as WaitingWork;
    keys[position] = preference.key(work);
    ties[position] = preference.thenBy?.(work) ?? 0;
  }
  return new PositionHeap(keys, ties);
}

/** Drivers list work in order of arrival, so the usual queue is already sorted and is not sorted again. */
function byJoining(works: readonly WaitingWork[]): readonly number[] | null {
  const since = (position: number): number => works[position]?.queuedSinceSeconds ?? 0;
  const inOrder = works.every((work, position) => position === 0 || since(position - 1) <= work.queuedSinceSeconds);
  return inOrder ? null : Array.from(works.keys()).sort((a, b) => since(a) - since(b));
}

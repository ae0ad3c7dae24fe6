import { throughputAt } from "@/solver/engine/throughputCurve";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { MOST_WEIGHED, type ReplicaView } from "../core/policy";
import type { Slots } from "../core/policyParts";
import { refreshed, type Seats, seatsOf } from "../core/replicaSeats";
import type { ModelSlots } from "../core/roundsView";
import { roomOf } from "../waiting/placements";

/** The part of a just-in-time policy's document on one model. */
export type ProfiledModel = JustInTimePolicy["models"][number];

/** The replicas of a model compared with its profiled saturation: how many more requests they take, and the forecast gain of each. */
export class ModelEngines {
  readonly model: string;
  /** Whether no replica of it is expected to take work again soon. */
  out = true;
  /** Number of requests that they may be given. */
  free = 0;
  private readonly saturationBatch: number;
  private readonly tokensPerSecond: Float64Array;
  /** Output tokens a second of one replica at saturation. */
  private readonly saturated: number;
  private seats: Seats;
  /** Throughput gains of further requests, as far as computed; and the loads after the last of them. */
  private readonly added = new Float64Array(MOST_WEIGHED + 1);
  private known = 0;
  private loads = new Int32Array(0);
  /** The number of replicas that take work, and the fewest requests in flight at one of them. */
  private taking = 0;
  private least = 0;

  constructor(profile: ProfiledModel) {
    this.model = profile.model;
    this.saturationBatch = profile.saturationBatch;
    this.tokensPerSecond = Float64Array.from({ length: profile.saturationBatch + 1 }, (_, batch) => throughputAt(profile, batch));
    this.saturated = throughputAt(profile, profile.saturationBatch);
    this.seats = seatsOf(profile.model, []);
  }

  /** Replaces the set of replicas. */
  seat(replicas: readonly ReplicaView[]): void {
    this.seats = seatsOf(this.model, replicas);
    this.loads = new Int32Array(this.seats.replicas.length);
  }

  /** Updates to the current state of the replicas. */
  refresh(): void {
    const { replicas } = this.seats;
    const { capacity } = refreshed(this.seats);
    this.out = true;
    for (let index = 0; index < capacity.length; index += 1) {
      capacity[index] = Math.min(capacity[index] ?? 0, this.saturationBatch);
      this.out &&= replicas[index]?.down === true;
    }
    this.changed();
  }

  /** The slots in which dispatches are counted as they are decided. */
  get slots(): Slots {
    return this.seats.slots;
  }

  /** The slots changed: a request was sent to a replica, or one is kept for a request that is due. */
  changed(): void {
    const { inFlight, capacity } = this.seats.slots;
    this.free = roomOf(this.seats.slots);
    this.known = 0;
    this.taking = 0;
    this.least = this.saturationBatch;
    for (let index = 0; index < capacity.length; index += 1) {
      if ((capacity[index] ?? 0) === 0) continue;
      this.taking += 1;
      this.least = Math.min(this.least, inFlight[index] ?? 0);
    }
  }

  /**
   * Forecast gain in output tokens a second of so many more requests, each at the replica that has least in flight by then. The gain is
   * absolute, not a share of the model's capacity: a token of a large model does no more for a program than one of a small model.
   */
  gain(requests: number): number {
    if (this.known === 0) this.loads.set(this.seats.slots.inFlight);
    for (; this.known < requests; this.known += 1) {
      const at = this.leastLoaded();
      const load = this.loads[at] ?? 0;
      this.loads[at] = load + 1;
      const before = this.tokensPerSecond[load] ?? 0;
      this.added[this.known + 1] = (this.added[this.known] ?? 0) + (this.tokensPerSecond[load + 1] ?? before) - before;
    }
    return this.added[requests] ?? 0;
  }

  /**
   * Seconds that one more request waits for a slot, behind those that wait for the model already, per output token of a mean answer there.
   * Infinity where no replica takes work.
   */
  waitPerToken(waiting: number): number {
    if (this.taking === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, waiting + 1 - this.free) / (this.taking * this.saturated);
  }

  /** Seconds that each token of one more request takes in the batch that it joins. Infinity where no replica takes work. */
  secondsPerToken(waiting: number): number {
    if (this.taking === 0) return Number.POSITIVE_INFINITY;
    return this.secondsInBatch(waiting >= this.free ? this.saturationBatch : this.least + 1);
  }

  /**
   * What one token of one more request delays others by, in seconds over all of them: those in the batch that it joins, each of whose tokens
   * takes longer, and those that wait, whose slots are free later. Both 0 where no replica takes work.
   */
  delayPerToken(waiting: number): { readonly running: number; readonly waiting: number } {
    const { taking: replicas, least } = this;
    if (replicas === 0) return { running: 0, waiting: 0 };
    const others = Math.min(least, this.saturationBatch - 1);
    const slower = others === 0 ? 0 : others * (this.secondsInBatch(others + 1) - this.secondsInBatch(others));
    return { running: Math.max(0, slower), waiting: waiting / (replicas * this.saturated) };
  }

  /** Seconds that each token of a request takes in a batch of that size. */
  private secondsInBatch(batch: number): number {
    return batch / (this.tokensPerSecond[batch] ?? this.saturated);
  }

  /** Output tokens a second at saturation of the replicas that take work, summed. */
  get mostTokensPerSecond(): number {
    return this.seats.slots.capacity.reduce((sum, room) => sum + (room > 0 ? this.saturated : 0), 0);
  }

  view(): ModelSlots {
    const { inFlight, capacity } = this.seats.slots;
    let replicas = 0;
    let saturation = 0;
    let running = 0;
    for (let index = 0; index < capacity.length; index += 1) {
      const room = capacity[index] ?? 0;
      if (room === 0) continue;
      replicas += 1;
      saturation += room;
      running += inFlight[index] ?? 0;
    }
    return { model: this.model, replicas, down: this.out, inFlight: running, saturation, free: this.free };
  }

  /** The least loaded of the replicas with room. */
  private leastLoaded(): number {
    const { capacity } = this.seats.slots;
    let best = -1;
    for (let index = 0; index < capacity.length; index += 1) {
      const load = this.loads[index] ?? 0;
      if (load < (capacity[index] ?? 0) && (best < 0 || load < (this.loads[best] ?? 0))) best = index;
    }
    return best;
  }
}

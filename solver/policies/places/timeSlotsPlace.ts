import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { ReplicaMemory } from "../core/memoryForecast";
import type { PolicyEvent, Reading, WaitingWork } from "../core/policy";
import type { MemoryPlan, Place, Slots } from "../core/policyParts";
import { type MemoryReadings, noPressure, pressureAfter } from "./memoryPressure";
import { MemoryTimeline, type PlannedRequest, SLOT_SECONDS, slotTokensOf } from "./memoryTimeline";

const absent: Reading = { state: "absent" };

/** A replica with respect to its memory. */
class Packed implements MemoryReadings {
  readonly id: string;
  readonly model: string;
  readonly timeline: MemoryTimeline;
  pressure = noPressure;
  kvUse = absent;
  preemptions = absent;
  private seenSeconds = 0;

  constructor(id: string, model: string, timeline = new MemoryTimeline()) {
    this.id = id;
    this.model = model;
    this.timeline = timeline;
  }

  copy(): Packed {
    const copy = new Packed(this.id, this.model, new MemoryTimeline(this.timeline));
    copy.pressure = this.pressure;
    return copy;
  }

  /** Updates to the present, from the driver's counts and the readings. */
  see(slots: Slots, index: number, nowSeconds: number): void {
    this.seenSeconds = nowSeconds;
    this.kvUse = slots.kvUse[index] ?? absent;
    this.preemptions = slots.preemptions[index] ?? absent;
    this.timeline.advance(nowSeconds);
    this.timeline.keepNewest(slots.inFlight[index] ?? 0);
    this.pressure = pressureAfter(this.pressure, this, nowSeconds);
  }

  runsLate(): boolean {
    return this.timeline.runsLate(this.seenSeconds);
  }
}

/** Replicas with the expected memory over time of the requests sent to each. */
class TimeSlots implements MemoryPlan {
  readonly slotSeconds = SLOT_SECONDS;
  private readonly packed = new Map<string, Packed>();
  /** Those of previously seen slots, in their order. */
  private readonly rows = new WeakMap<Slots, readonly Packed[]>();

  choose(slots: Slots, work: WaitingWork, nowSeconds: number): number {
    return this.choosing(slots, nowSeconds)(work);
  }

  /**
   * Within a decision a replica's free memory only shrinks, so what is too large once is too large for the rest of it: of calls with the
   * same forecast, which differ in their prompts alone, the largest prompt that may still fit is remembered.
   */
  choosing(slots: Slots, nowSeconds: number): (work: WaitingWork) => number {
    const row = this.look(slots, nowSeconds);
    const most = new Map<AgentForecast | undefined, number>();
    return (work) => {
      if (work.inputTokens > (most.get(work.forecast) ?? Number.POSITIVE_INFINITY)) return -1;
      const request = plannedRequest(work, nowSeconds);
      const { best, lacks } = lowestPeak(slots, row, request);
      if (best === -1) most.set(work.forecast, Math.floor(work.inputTokens - lacks));
      else row[best]?.timeline.reserve(request);
      return best;
    };
  }

  /** The replica whose expected peak is lowest with the work, those under pressure last. */
  nearest(
    slots: Slots,
    { work, nowSeconds, kept }: { readonly work: WaitingWork; readonly nowSeconds: number; readonly kept: ReadonlySet<number> },
  ): number {
    const request = plannedRequest(work, nowSeconds);
    const slotTokens = slotTokensOf(request);
    const steadyTokens = request.untilSeconds === null ? request.inputTokens : 0;
    let nearest = { index: -1, pressed: true, peak: Number.POSITIVE_INFINITY };
    for (const [index, { timeline, pressure }] of this.rowOf(slots).entries()) {
      if ((slots.capacity[index] ?? 0) <= 0 || kept.has(index)) continue;
      const peak = timeline.peakTokens(slotTokens, steadyTokens) - (slots.kvTokens[index] ?? 0);
      const pressed = pressure.suspended !== null;
      const nearer = pressed === nearest.pressed ? peak < nearest.peak : nearest.pressed;
      if (nearest.index === -1 || nearer) nearest = { index, pressed, peak };
    }
    return nearest.index;
  }

  finished(workId: string, replicaId: string): void {
    this.packed.get(replicaId)?.timeline.release(workId);
  }

  peakTokens(slots: Slots, index: number): number {
    return this.rowOf(slots)[index]?.timeline.peakTokens() ?? 0;
  }

  replicas(slots: Slots, nowSeconds: number): readonly ReplicaMemory[] {
    return this.look(slots, nowSeconds).map(({ id, model, timeline, pressure }, index) => ({
      replicaId: id,
      model,
      capacityTokens: slots.kvTokens[index] ?? null,
      inFlight: slots.inFlight[index] ?? 0,
      seats: slots.capacity[index] ?? 0,
      slotTokens: timeline.slotTokens(),
      suspended: timeline.size === 0 ? null : pressure.suspended,
      requests: timeline.expected().map(({ workId, agent, untilSeconds }) => ({ workId, agent, untilSeconds })),
    }));
  }

  copy(): TimeSlots {
    const copy = new TimeSlots();
    for (const [id, one] of this.packed) copy.packed.set(id, one.copy());
    return copy;
  }

  /** The slots' replicas at the present time. */
  private look(slots: Slots, nowSeconds: number): readonly Packed[] {
    const row = this.rowOf(slots);
    for (let index = 0; index < row.length; index += 1) row[index]?.see(slots, index, nowSeconds);
    return row;
  }

  /** The state of replicas is dropped with them, and with the model that they serve. */
  private rowOf(slots: Slots): readonly Packed[] {
    const known = this.rows.get(slots);
    if (known !== undefined) return known;
    const { model, replicaIds } = slots;
    const row = replicaIds.map((id) => {
      const one = this.packed.get(id);
      return one?.model === model ? one : new Packed(id, model);
    });
    for (const [id, one] of this.packed) if (one.model === model) this.packed.delete(id);
    for (const one of row) this.packed.set(one.id, one);
    this.rows.set(slots, row);
    return row;
  }
}

/**
 * Index of the replica whose highest expected use is lowest with the request, among those that have room for it; -1: none, and then at
 * least how many tokens it is too large for any with a free seat.
 */
function lowestPeak(slots: Slots, row: readonly Packed[], request: PlannedRequest): { readonly best: number; readonly lacks: number } {
  const slotTokens = slotTokensOf(request);
  const steadyTokens = request.untilSeconds === null ? request.inputTokens : 0;
  let best = -1;
  let lowest = Number.POSITIVE_INFINITY;
  let lacks = Number.POSITIVE_INFINITY;
  for (let index = 0; index < row.length; index += 1) {
    const { timeline, pressure } = row[index] as Packed;
    if ((slots.inFlight[index] ?? 0) >= (slots.capacity[index] ?? 0)) continue;
    const idle = timeline.size === 0;
    if (pressure.suspended !== null && !idle) continue;
    const capacityTokens = idle ? null : (slots.kvTokens[index] ?? null);
    const excess = capacityTokens === null ? 0 : timeline.excessTokens(capacityTokens, slotTokens, steadyTokens);
    if (excess > 0) {
      lacks = Math.min(lacks, excess);
      continue;
    }
    const peak = timeline.peakTokens(slotTokens, steadyTokens);
    // The first is compared with nothing: even an unbounded expectation gets a place.
    if (best !== -1 && peak >= lowest) continue;
    const over = capacityTokens === null ? 0 : peak - capacityTokens;
    if (over > 0) {
      lacks = Math.min(lacks, over);
      continue;
    }
    best = index;
    lowest = peak;
  }
  return { best, lacks };
}

function plannedRequest({ id, inputTokens, forecast }: WaitingWork, nowSeconds: number): PlannedRequest {
  const expects = forecast !== undefined && forecast.requestSeconds > 0;
  return {
    workId: id,
    agent: forecast?.agent ?? null,
    inputTokens,
    tokensPerSecond: expects ? forecast.tokensPerSecond : 0,
    fromSeconds: nowSeconds,
    untilSeconds: expects ? nowSeconds + forecast.requestSeconds : null,
  };
}

/**
 * Packs requests into the replicas' memory over time (Kairos, section 6): a request goes to the replica where the highest expected use of
 * all slots stays lowest with it, among the replicas at which no slot exceeds the KV cache; if there is none it waits, and the next one in
 * the order is tried. The expected use is its prompt plus the tokens that requests of its agent write a second, for their usual duration;
 * a request without a forecast counts its prompt for as long as it is there. A request that ends early is removed at once, one that ends
 * late no longer counts, and a replica under pressure (`memoryPressure.ts`) gets nothing until that clears. A replica that has none of its
 * requests takes any, so no request waits for ever.
 *
 * It plans its own choices: a choice is taken as a dispatch. The driver's counts are exact, so where the plan has more than are in flight,
 * the oldest are gone. A replica of unknown capacity counts as having room, and without readings no pressure is detected: both are
 * reported.
 */
export function timeSlotsPlace(): Place {
  const slots = new TimeSlots();
  return {
    kind: "time-slots",
    needs: ["kv-telemetry", "workflows"],
    choose: (...at) => slots.choose(...at),
    choosing: (...at) => slots.choosing(...at),
    nearest: (...at) => slots.nearest(...at),
    degraded({ capacity, kvTokens, kvUse, preemptions }) {
      const some = (lacks: (index: number) => boolean) => capacity.some((most, index) => most > 0 && lacks(index));
      if (some((index) => (kvTokens[index] ?? null) === null)) return "no-kv-capacity";
      return some((index) => kvUse[index]?.state !== "fresh" && preemptions[index]?.state !== "fresh") ? "no-fresh-telemetry" : null;
    },
    askAgainSeconds: (nowSeconds) => (Math.floor(nowSeconds / SLOT_SECONDS) + 1) * SLOT_SECONDS,
    memoryPlan: () => slots.copy(),
    observe(event: PolicyEvent) {
      if (event.kind === "finished") slots.finished(event.workId, event.replicaId);
    },
  };
}

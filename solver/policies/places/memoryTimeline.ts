/** Length of a slot: the source's, finer ones cost more and tell no more (Kairos, section 6). */
export const SLOT_SECONDS = 0.5;

/** Slots ahead that are kept. A request that takes longer counts as far as this only. */
export const HORIZON_SLOTS = 512;

/** What a request is expected to hold of a replica's KV cache while it is there. */
export interface PlannedRequest {
  readonly workId: string;
  readonly agent: string | null;
  /** Of the prompt: held from the start. */
  readonly inputTokens: number;
  readonly tokensPerSecond: number;
  readonly fromSeconds: number;
  /** When it is expected to end; null where nothing says: then its prompt counts for as long as it is there, and no growth. */
  readonly untilSeconds: number | null;
}

const slotAt = (seconds: number): number => Math.floor(seconds / SLOT_SECONDS);

/** The last slot of a request, no further than the horizon of the slot in which it begins. */
function lastSlotOf({ fromSeconds, untilSeconds }: PlannedRequest): number {
  const first = slotAt(fromSeconds);
  const last = Math.ceil((untilSeconds ?? fromSeconds) / SLOT_SECONDS) - 1;
  return Math.min(Math.max(first, last), first + HORIZON_SLOTS - 1);
}

/**
 * Most tokens that a request is expected to hold within a slot in which it is there: M(t) = P + k (t - t_s) (Kairos, equation 1) at the slot's
 * end or its own. A whole number, and the same whenever it is asked for: sums of such are exact, and what was added can be taken off again.
 */
function tokensIn({ inputTokens, tokensPerSecond, fromSeconds, untilSeconds }: PlannedRequest, slot: number): number {
  const seconds = Math.min((slot + 1) * SLOT_SECONDS, untilSeconds ?? fromSeconds) - fromSeconds;
  return Math.ceil(inputTokens + tokensPerSecond * Math.max(0, seconds));
}

/** Tokens of a request in each of its slots, the first at index 0; of one whose end nobody knows there are none. */
export function slotTokensOf(request: PlannedRequest): Float64Array {
  if (request.untilSeconds === null) return new Float64Array();
  const first = slotAt(request.fromSeconds);
  return Float64Array.from({ length: lastSlotOf(request) - first + 1 }, (_, index) => tokensIn(request, first + index));
}

/**
 * What the requests at one replica are expected to hold of its KV cache, slot by slot from now on (Kairos, section 6). One that runs longer than
 * expected counts no more from then on: that is for telemetry to notice.
 */
export class MemoryTimeline {
  /** Sums by slot, at the slot's number modulo the horizon; slots that have passed and those after `last` are 0. */
  private readonly ring: Float64Array;
  private readonly requests: Map<string, PlannedRequest>;
  /** Of the requests whose end nobody knows. */
  private steadyTokens = 0;
  private first = 0;
  /** No slot after it holds anything. */
  private last = -1;

  constructor(copied?: MemoryTimeline) {
    this.ring = copied === undefined ? new Float64Array(HORIZON_SLOTS) : copied.ring.slice();
    this.requests = new Map(copied?.requests);
    if (copied === undefined) return;
    this.steadyTokens = copied.steadyTokens;
    this.first = copied.first;
    this.last = copied.last;
  }

  /** Requests that are there, whether or not they are late. */
  get size(): number {
    return this.requests.size;
  }

  /** Lets slots pass that end by then. Time never goes back. */
  advance(nowSeconds: number): void {
    const now = slotAt(nowSeconds);
    const passed = Math.min(now, this.last + 1);
    for (let slot = this.first; slot < passed; slot += 1) this.ring[slot % HORIZON_SLOTS] = 0;
    this.first = Math.max(this.first, now);
  }

  /** Plans a request that begins in the slot that the timeline stands at. */
  reserve(request: PlannedRequest): void {
    this.release(request.workId);
    this.requests.set(request.workId, request);
    this.count(request, 1);
    if (request.untilSeconds !== null) this.last = Math.max(this.last, lastSlotOf(request));
  }

  /** Takes a request off, in all slots that have not passed. One that is not there is none of its own. */
  release(workId: string): void {
    const request = this.requests.get(workId);
    if (request === undefined) return;
    this.requests.delete(workId);
    this.count(request, -1);
  }

  /** Takes the oldest off until no more than so many are left. */
  keepNewest(count: number): void {
    if (this.requests.size <= count) return;
    for (const workId of this.requests.keys()) {
      this.release(workId);
      if (this.requests.size <= count) return;
    }
  }

  /**
   * Most tokens of all slots from now on, with one more request that begins now.
   * @param slotTokens its tokens slot by slot. @param steadyTokens what it adds to all of them.
   */
  peakTokens(slotTokens: Float64Array = none, steadyTokens = 0): number {
    const { ring, first } = this;
    const own = slotTokens.length;
    const count = Math.max(own, this.last - first + 1);
    let peak = 0;
    for (let index = 0; index < count; index += 1) {
      const tokens = (ring[(first + index) % HORIZON_SLOTS] ?? 0) + (index < own ? (slotTokens[index] ?? 0) : 0);
      if (tokens > peak) peak = tokens;
    }
    return peak + this.steadyTokens + steadyTokens;
  }

  /** Expected most of each slot from now on, up to the last that holds anything. */
  slotTokens(): number[] {
    const { ring, first, steadyTokens } = this;
    const tokens = Array.from({ length: Math.max(0, this.last - first + 1) }, (_, index) => ring[(first + index) % HORIZON_SLOTS] ?? 0);
    const count = Math.max(steadyTokens > 0 ? 1 : 0, tokens.findLastIndex((each) => each > 0) + 1);
    return Array.from({ length: count }, (_, index) => (tokens[index] ?? 0) + steadyTokens);
  }

  /** What is there, the sooner it is expected to end the sooner; what nobody knows the end of comes last. */
  expected(): readonly PlannedRequest[] {
    const until = ({ untilSeconds }: PlannedRequest): number => untilSeconds ?? Number.POSITIVE_INFINITY;
    return [...this.requests.values()].sort((a, b) => (until(a) === until(b) ? 0 : until(a) - until(b)));
  }

  /** Whether a request was expected to have ended before then. */
  runsLate(nowSeconds: number): boolean {
    for (const { untilSeconds } of this.requests.values()) if (untilSeconds !== null && untilSeconds < nowSeconds) return true;
    return false;
  }

  private count(request: PlannedRequest, sign: 1 | -1): void {
    if (request.untilSeconds === null) {
      this.steadyTokens += sign * Math.ceil(request.inputTokens);
      return;
    }
    const last = lastSlotOf(request);
    for (let slot = Math.max(this.first, slotAt(request.fromSeconds)); slot <= last; slot += 1) {
      const at = slot % HORIZON_SLOTS;
      this.ring[at] = (this.ring[at] ?? 0) + sign * tokensIn(request, slot);
    }
  }
}

const none = new Float64Array();

/** Length of a slot: the source's; finer slots cost more without better results (Kairos, section 6). */
export const SLOT_SECONDS = 0.5;

/** Number of slots ahead that are stored. A request that takes longer counts only up to this. */
export const HORIZON_SLOTS = 512;

/** The expected KV-cache use of a request at a replica while it is there. */
export interface PlannedRequest {
  readonly workId: string;
  readonly agent: string | null;
  /** Prompt tokens: held from the start. */
  readonly inputTokens: number;
  readonly tokensPerSecond: number;
  readonly fromSeconds: number;
  /** Expected end; null where it is unknown: then its prompt counts for as long as it is there, without growth. */
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
 * Maximum number of tokens that a request is expected to hold within a slot in which it is there: M(t) = P + k (t - t_s) (Kairos, equation
 * 1) at the slot's end or its own. A whole number, and the same at each call: sums are exact, and an added request can be subtracted again.
 */
function tokensIn({ inputTokens, tokensPerSecond, fromSeconds, untilSeconds }: PlannedRequest, slot: number): number {
  const seconds = Math.min((slot + 1) * SLOT_SECONDS, untilSeconds ?? fromSeconds) - fromSeconds;
  return Math.ceil(inputTokens + tokensPerSecond * Math.max(0, seconds));
}

/** Tokens of a request in each of its slots, the first at index 0; empty for one with an unknown end. */
export function slotTokensOf(request: PlannedRequest): Float64Array {
  if (request.untilSeconds === null) return new Float64Array();
  const first = slotAt(request.fromSeconds);
  const tokens = new Float64Array(lastSlotOf(request) - first + 1);
  for (let index = 0; index < tokens.length; index += 1) tokens[index] = tokensIn(request, first + index);
  return tokens;
}

/**
 * The expected KV-cache use of the requests at one replica, slot by slot from now on (Kairos, section 6). A request that runs longer than
 * expected no longer counts from then on: telemetry has to detect it.
 */
export class MemoryTimeline {
  /** Sums by slot, at the slot's number modulo the horizon; slots that have passed and those after `last` are 0. */
  private readonly ring: Float64Array;
  private readonly requests: Map<string, PlannedRequest>;
  /** Prompt tokens of the requests with an unknown end. */
  private steadyTokens = 0;
  private first = 0;
  /** No slot after it holds anything. */
  private last = -1;
  /** The slot with the largest sum; -1: not known. */
  private fullest = -1;

  constructor(copied?: MemoryTimeline) {
    this.ring = copied === undefined ? new Float64Array(HORIZON_SLOTS) : copied.ring.slice();
    this.requests = new Map(copied?.requests);
    if (copied === undefined) return;
    this.steadyTokens = copied.steadyTokens;
    this.first = copied.first;
    this.last = copied.last;
  }

  /** Number of requests that are there, late ones included. */
  get size(): number {
    return this.requests.size;
  }

  /** Drops slots that end by then. Time never goes back. */
  advance(nowSeconds: number): void {
    const now = slotAt(nowSeconds);
    const passed = Math.min(now, this.last + 1);
    for (let slot = this.first; slot < passed; slot += 1) this.ring[slot % HORIZON_SLOTS] = 0;
    this.first = Math.max(this.first, now);
    if (this.fullest < this.first) this.fullest = -1;
  }

  /** Adds a request that begins in the current slot of the timeline. */
  reserve(request: PlannedRequest): void {
    this.release(request.workId);
    this.requests.set(request.workId, request);
    this.count(request, 1);
    if (request.untilSeconds !== null) this.last = Math.max(this.last, lastSlotOf(request));
  }

  /** Removes a request from all slots that have not passed. One that is not there is ignored. */
  release(workId: string): void {
    const request = this.requests.get(workId);
    if (request === undefined) return;
    this.requests.delete(workId);
    this.count(request, -1);
  }

  /** Removes the oldest until at most so many are left. */
  keepNewest(count: number): void {
    if (this.requests.size <= count) return;
    for (const workId of this.requests.keys()) {
      this.release(workId);
      if (this.requests.size <= count) return;
    }
  }

  /**
   * Maximum tokens over all slots from now on, with one more request that begins now.
   * @param slotTokens its tokens slot by slot. @param steadyTokens the tokens it adds to all of them.
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

  /**
   * Tokens by which one more request that begins now exceeds a capacity in the slot that is fullest without it: a positive number shows,
   * without a look at the other slots, that it does not fit.
   */
  excessTokens(capacityTokens: number, slotTokens: Float64Array, steadyTokens = 0): number {
    if (this.fullest < 0) this.fullest = this.findFullest();
    const own = steadyTokens + (slotTokens[this.fullest - this.first] ?? 0);
    return (this.ring[this.fullest % HORIZON_SLOTS] ?? 0) + this.steadyTokens + own - capacityTokens;
  }

  /** Expected maximum of each slot from now on, up to the last that holds anything. */
  slotTokens(): number[] {
    const { ring, first, steadyTokens } = this;
    const tokens = Array.from({ length: Math.max(0, this.last - first + 1) }, (_, index) => ring[(first + index) % HORIZON_SLOTS] ?? 0);
    const count = Math.max(steadyTokens > 0 ? 1 : 0, tokens.findLastIndex((each) => each > 0) + 1);
    return Array.from({ length: count }, (_, index) => (tokens[index] ?? 0) + steadyTokens);
  }

  /** The requests that are there by expected end, ascending; those with an unknown end come last. */
  expected(): readonly PlannedRequest[] {
    const until = ({ untilSeconds }: PlannedRequest): number => untilSeconds ?? Number.POSITIVE_INFINITY;
    return [...this.requests.values()].sort((a, b) => (until(a) === until(b) ? 0 : until(a) - until(b)));
  }

  /** Whether a request was expected to have ended before then. */
  runsLate(nowSeconds: number): boolean {
    for (const { untilSeconds } of this.requests.values()) if (untilSeconds !== null && untilSeconds < nowSeconds) return true;
    return false;
  }

  private findFullest(): number {
    let fullest = this.first;
    for (let slot = this.first + 1; slot <= this.last; slot += 1) {
      if ((this.ring[slot % HORIZON_SLOTS] ?? 0) > (this.ring[fullest % HORIZON_SLOTS] ?? 0)) fullest = slot;
    }
    return fullest;
  }

  private count(request: PlannedRequest, sign: 1 | -1): void {
    if (request.untilSeconds === null) {
      this.steadyTokens += sign * Math.ceil(request.inputTokens);
      return;
    }
    this.fullest = -1;
    const last = lastSlotOf(request);
    for (let slot = Math.max(this.first, slotAt(request.fromSeconds)); slot <= last; slot += 1) {
      const at = slot % HORIZON_SLOTS;
      this.ring[at] = (this.ring[at] ?? 0) + sign * tokensIn(request, slot);
    }
  }
}

const none = new Float64Array();

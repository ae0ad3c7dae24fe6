/** Where a sequence is inside its engine. */
export const WAITING = 0;
export const PREFILLING = 1;
export const DECODING = 2;

const INITIAL_SLOTS = 64;

const NONE = -1;

/**
 * State of every request inside one engine, one slot each, in typed arrays that double when full. Slots are reused, so
 * memory depends on the requests in the engine, not on all past requests. Running sequences are linked in admission order.
 */
export class SequenceTable {
  handle = new Float64Array(INITIAL_SLOTS);
  arrivalSeconds = new Float64Array(INITIAL_SLOTS);
  /** Lower is served first. */
  priority = new Float64Array(INITIAL_SLOTS);
  /** Position in the order of arrival: breaks ties. */
  order = new Float64Array(INITIAL_SLOTS);
  inputTokens = new Int32Array(INITIAL_SLOTS);
  /** Tokens of its prompt that the prefix cache holds; fewer than the prompt's tokens. */
  cachedTokens = new Int32Array(INITIAL_SLOTS);
  outputTokens = new Int32Array(INITIAL_SLOTS);
  state = new Uint8Array(INITIAL_SLOTS);
  /** 1 while it counts as starved, and so is served before all that do not. */
  ahead = new Uint8Array(INITIAL_SLOTS);
  /** With aging: engine step since which it waits, -1 if it does not; step of its last admission; steps of service while ahead. */
  waitsSince = new Float64Array(INITIAL_SLOTS);
  takenAt = new Float64Array(INITIAL_SLOTS);
  served = new Float64Array(INITIAL_SLOTS);
  /** With feedback: engine step since which its service is counted, and steps of service at its level before that. */
  levelSince = new Float64Array(INITIAL_SLOTS);
  levelServed = new Float64Array(INITIAL_SLOTS);
  /** 1 once its caller has aborted it; it leaves the batch at the next step boundary. */
  aborted = new Uint8Array(INITIAL_SLOTS);
  /** Tokens generated when it last began to wait or to decode. */
  generated = new Int32Array(INITIAL_SLOTS);
  /** Engine step at which it last began to decode. */
  decodingSince = new Float64Array(INITIAL_SLOTS);
  /** Tokens of its prompt (and of what it had generated before a preemption) cached or computed so far. */
  prefilled = new Int32Array(INITIAL_SLOTS);
  private previous = new Int32Array(INITIAL_SLOTS);
  private next = new Int32Array(INITIAL_SLOTS);
  private readonly free: number[] = [];
  private used = 0;
  private newest = NONE;

  /** Last admitted of the running sequences; -1 when none runs. */
  get lastAdmitted(): number {
    return this.newest;
  }

  /** The running sequence admitted before this one; -1 at the first. */
  admittedBefore(slot: number): number {
    return this.previous[slot] ?? NONE;
  }

  take(): number {
    const freed = this.free.pop();
    if (freed !== undefined) return freed;
    if (this.used === this.state.length) this.double();
    return this.used++;
  }

  release(slot: number): void {
    this.free.push(slot);
  }

  link(slot: number): void {
    this.previous[slot] = this.newest;
    this.next[slot] = NONE;
    if (this.newest !== NONE) this.next[this.newest] = slot;
    this.newest = slot;
  }

  unlink(slot: number): void {
    const before = this.previous[slot] ?? NONE;
    const after = this.next[slot] ?? NONE;
    if (before !== NONE) this.next[before] = after;
    if (after === NONE) this.newest = before;
    else this.previous[after] = before;
  }

  /** Whether a request is served before another: if it is ahead, then by priority, then by arrival. */
  precedes(slot: number, other: number): boolean {
    const ahead = this.ahead[slot] ?? 0;
    if (ahead !== this.ahead[other]) return ahead === 1;
    const difference = (this.priority[slot] ?? 0) - (this.priority[other] ?? 0);
    return difference < 0 || (difference === 0 && (this.order[slot] ?? 0) < (this.order[other] ?? 0));
  }

  /** Whether a request is of a higher level than another, whatever their arrivals. */
  outranks(slot: number, other: number): boolean {
    const ahead = this.ahead[slot] ?? 0;
    return ahead === this.ahead[other] ? (this.priority[slot] ?? 0) < (this.priority[other] ?? 0) : ahead === 1;
  }

  /** Tokens that its cache must hold before its next token: the prompt, and after a preemption its generated tokens. */
  prefillTarget(slot: number): number {
    return (this.inputTokens[slot] ?? 0) + (this.generated[slot] ?? 0);
  }

  private double(): void {
    const float = (from: Float64Array): Float64Array<ArrayBuffer> => {
      const wider = new Float64Array(from.length * 2);
      wider.set(from);
      return wider;
    };
    const int = (from: Int32Array): Int32Array<ArrayBuffer> => {
      const wider = new Int32Array(from.length * 2);
      wider.set(from);
      return wider;
    };
    const byte = (from: Uint8Array): Uint8Array<ArrayBuffer> => {
      const wider = new Uint8Array(from.length * 2);
      wider.set(from);
      return wider;
    };
    this.handle = float(this.handle);
    this.arrivalSeconds = float(this.arrivalSeconds);
    this.priority = float(this.priority);
    this.order = float(this.order);
    this.decodingSince = float(this.decodingSince);
    this.inputTokens = int(this.inputTokens);
    this.cachedTokens = int(this.cachedTokens);
    this.outputTokens = int(this.outputTokens);
    this.generated = int(this.generated);
    this.prefilled = int(this.prefilled);
    this.previous = int(this.previous);
    this.next = int(this.next);
    this.state = byte(this.state);
    this.aborted = byte(this.aborted);
    this.ahead = byte(this.ahead);
    this.waitsSince = float(this.waitsSince);
    this.takenAt = float(this.takenAt);
    this.served = float(this.served);
    this.levelSince = float(this.levelSince);
    this.levelServed = float(this.levelServed);
  }
}

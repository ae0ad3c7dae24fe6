import { DecodeSpan } from "./decodeSpan";
import { FinishHeap } from "./finishHeap";
import type { EngineRequest, OnReplicaEvent, Replica } from "./replica";
import type { ReplicaModel, StepLoad } from "./replicaModel";
import { DECODING, PREFILLING, SequenceTable, WAITING } from "./sequenceTable";
import { SlotDeque } from "./slotDeque";

/** What the engine does from the last step boundary to the next event. */
const IDLE = 0;
const MIXED_STEP = 1;
const DECODE_SPAN = 2;

/**
 * A replica with continuous batching as vLLM V1 schedules it: every step gives each decoding sequence one token; what is left of
 * the step's token budget prefills admitted prompts in order, in chunks. Admission is first come, first served and stops at
 * the first request whose prompt does not fit the KV cache. When decoding outgrows the cache the sequence admitted last is
 * preempted: it loses its cache, waits at the front, and recomputes. Steps without prefill work between two events are jumped
 * over in closed form, so that the cost is per event, not per token.
 */
export class ContinuousBatching implements Replica {
  preemptions = 0;
  running = 0;
  peakKvTokens = 0;

  private readonly table = new SequenceTable();
  private readonly slotOf = new Map<number, number>();
  private readonly queue = new SlotDeque();
  private readonly prefills = new SlotDeque();
  private readonly finishes: FinishHeap;
  private readonly span = new DecodeSpan();
  private readonly load: { -readonly [part in keyof StepLoad]: StepLoad[part] } = {
    tokens: 0,
    prefillPairs: 0,
    kvTokensRead: 0,
    sequences: 0,
  };

  private advancedTo = Number.NEGATIVE_INFINITY;
  private lastEnqueued = Number.NEGATIVE_INFINITY;
  private enqueued = 0;
  private aborting = 0;

  /** Engine steps completed; each gave every decoding sequence one token. */
  private step = 0;
  private decoding = 0;
  /** Cached tokens that the next step's decodes read, the slot of the token they compute included. */
  private decodeTokens = 0;
  /** Cache reserved for prompts admitted and not fully computed. */
  private prefillTokens = 0;

  private phase = IDLE;
  private phaseStart = 0;
  private phaseEnd = Number.POSITIVE_INFINITY;
  private phaseSteps = 0;
  /** Prompts at the head of `prefills` that this mixed step completes, and tokens it computes of the one after them. */
  private completing = 0;
  private partialTokens = 0;
  private busyBefore = 0;

  constructor(private readonly model: ReplicaModel) {
    this.finishes = new FinishHeap(model.maxSequences);
  }

  get waiting(): number {
    return this.queue.size;
  }

  get kvTokensUsed(): number {
    return this.decodeTokens + this.prefillTokens + this.decoding * this.stepsDoneBy(this.advancedTo);
  }

  get busySeconds(): number {
    return this.phase === IDLE ? this.busyBefore : this.busyBefore + Math.max(0, this.advancedTo - this.phaseStart);
  }

  enqueue(handle: number, { atSeconds, inputTokens, outputTokens }: EngineRequest): boolean {
    if (!(inputTokens >= 0 && outputTokens >= 0))
      throw new Error(`Token counts must be 0 or more, found ${inputTokens} in and ${outputTokens} out`);
    if (!(atSeconds >= this.lastEnqueued && atSeconds >= this.advancedTo)) {
      throw new Error(
        `Requests must be enqueued in order of time: ${atSeconds} s comes before ${Math.max(this.lastEnqueued, this.advancedTo)} s`,
      );
    }
    if (this.slotOf.has(handle)) throw new Error(`Handle ${handle} is taken by a request inside this replica`);
    const input = Math.max(1, inputTokens);
    const output = Math.max(1, outputTokens);
    if (input + output > this.model.kvTokens) return false;

    const { table } = this;
    const slot = table.take();
    table.handle[slot] = handle;
    table.arrivalSeconds[slot] = atSeconds;
    table.order[slot] = this.enqueued++;
    table.inputTokens[slot] = input;
    table.outputTokens[slot] = output;
    table.generated[slot] = 0;
    table.aborted[slot] = 0;
    table.state[slot] = WAITING;
    this.slotOf.set(handle, slot);
    this.lastEnqueued = atSeconds;
    // A queue that was not empty is either blocked until a finish, or its head has cut the span already.
    if (this.queue.size === 0) this.cutSpan(atSeconds);
    this.queue.pushBack(slot);
    return true;
  }

  nextEventSeconds(): number {
    if (this.phase !== IDLE) return this.phaseEnd;
    return this.queue.size === 0 ? Number.POSITIVE_INFINITY : this.headArrival();
  }

  advanceTo(seconds: number, onEvent: OnReplicaEvent): void {
    if (seconds < this.advancedTo) throw new Error(`Time cannot run back from ${this.advancedTo} s to ${seconds} s`);
    for (let at = this.nextEventSeconds(); at <= seconds && at !== Number.POSITIVE_INFINITY; at = this.nextEventSeconds()) {
      if (this.phase !== IDLE) this.completePhase(onEvent);
      this.schedule(at, onEvent);
    }
    this.advancedTo = seconds;
  }

  abort(handle: number, atSeconds: number): void {
    const slot = this.slot(handle);
    this.slotOf.delete(handle);
    if (this.table.state[slot] === WAITING) {
      this.queue.remove(slot);
      this.table.release(slot);
      // If it blocked the queue, the one behind it may fit at the next step.
      if (this.queue.size > 0) this.cutSpan(Math.max(atSeconds, this.headArrival()));
      return;
    }
    this.table.aborted[slot] = 1;
    this.aborting++;
    this.cutSpan(atSeconds);
  }

  generatedTokens(handle: number, atSeconds: number): number {
    const slot = this.slot(handle);
    const before = this.generatedAtBoundary(slot);
    return this.table.state[slot] === DECODING ? before + this.stepsDoneBy(atSeconds) : before;
  }

  private slot(handle: number): number {
    const slot = this.slotOf.get(handle);
    if (slot === undefined) throw new Error(`No request inside this replica bears the handle ${handle}`);
    return slot;
  }

  private headArrival(): number {
    return this.table.arrivalSeconds[this.queue.at(0)] ?? Number.POSITIVE_INFINITY;
  }

  private generatedAtBoundary(slot: number): number {
    const { table } = this;
    const since = table.state[slot] === DECODING ? this.step - (table.decodingSince[slot] ?? 0) : 0;
    return (table.generated[slot] ?? 0) + since;
  }

  private stepsDoneBy(seconds: number): number {
    if (this.phase !== DECODE_SPAN) return 0;
    return seconds >= this.phaseEnd ? this.phaseSteps : this.span.stepsDoneBy(seconds);
  }

  /** Ends a decode span at its first step boundary at or after a time. */
  private cutSpan(seconds: number): void {
    if (this.phase !== DECODE_SPAN || seconds >= this.phaseEnd) return;
    this.phaseSteps = Math.min(this.phaseSteps, this.span.stepsReaching(seconds));
    this.phaseEnd = this.span.endSeconds(this.phaseSteps);
  }

  /** At a step boundary: preempt, prefill, admit, and begin the next step or span. */
  private schedule(now: number, onEvent: OnReplicaEvent): void {
    const preempted = this.preemptUntilItFits(now, onEvent);
    let budget = this.model.maxBatchedTokens - this.decoding;
    this.load.tokens = this.decoding;
    this.load.prefillPairs = 0;
    this.completing = 0;
    this.partialTokens = 0;
    for (let index = 0; index < this.prefills.size && budget > 0; index++) budget -= this.takeChunk(this.prefills.at(index), budget);
    // As in vLLM, a step that had to preempt admits nothing.
    while (!preempted && budget > 0 && this.headMayEnter(now)) budget -= this.takeChunk(this.admit(now, onEvent), budget);

    const kvTokens = this.decodeTokens + this.prefillTokens;
    this.phaseStart = now;
    if (this.load.tokens > this.decoding) {
      this.load.kvTokensRead = this.decodeTokens;
      this.load.sequences = this.decoding + this.completing + (this.partialTokens > 0 ? 1 : 0);
      this.phase = MIXED_STEP;
      this.phaseSteps = 1;
      this.phaseEnd = now + this.model.stepTime.mixedStepSeconds(this.load);
    } else if (this.decoding > 0) {
      this.beginSpan(now, preempted);
    } else {
      this.phase = IDLE;
      this.phaseEnd = Number.POSITIVE_INFINITY;
    }
    this.peakKvTokens = Math.max(this.peakKvTokens, kvTokens);
  }

  private preemptUntilItFits(now: number, onEvent: OnReplicaEvent): boolean {
    let preempted = false;
    while (this.decodeTokens + this.prefillTokens > this.model.kvTokens) {
      const slot = this.table.lastAdmitted;
      this.leaveBatch(slot);
      this.table.state[slot] = WAITING;
      this.queue.pushFront(slot);
      this.preemptions++;
      preempted = true;
      onEvent("preempted", this.table.handle[slot] ?? 0, now);
    }
    return preempted;
  }

  private headMayEnter(now: number): boolean {
    if (this.queue.size === 0 || this.running >= this.model.maxSequences || this.headArrival() > now) return false;
    // One token more than the prompt: the one its prefill yields, which the next step stores.
    return this.decodeTokens + this.prefillTokens + this.table.prefillTarget(this.queue.at(0)) < this.model.kvTokens;
  }

  private admit(now: number, onEvent: OnReplicaEvent): number {
    const slot = this.queue.popFront();
    this.table.state[slot] = PREFILLING;
    this.table.prefilled[slot] = 0;
    this.table.link(slot);
    this.prefills.pushBack(slot);
    this.prefillTokens += this.table.prefillTarget(slot);
    this.running++;
    onEvent("admitted", this.table.handle[slot] ?? 0, now);
    return slot;
  }

  /** Puts as much of a prompt as the budget allows into the step; the tokens taken. */
  private takeChunk(slot: number, budget: number): number {
    const done = this.table.prefilled[slot] ?? 0;
    const missing = this.table.prefillTarget(slot) - done;
    const chunk = Math.min(budget, missing);
    if (chunk === missing) this.completing++;
    else this.partialTokens = chunk;
    this.load.tokens += chunk;
    // Each token of the chunk attends to what was computed before it and to the chunk up to itself.
    this.load.prefillPairs += chunk * done + (chunk * (chunk + 1)) / 2;
    return chunk;
  }

  private beginSpan(now: number, preempted: boolean): void {
    const { stepTime, kvTokens } = this.model;
    this.phase = DECODE_SPAN;
    const firstSeconds = stepTime.decodeBaseSeconds(this.decoding) + stepTime.secondsPerKvToken * this.decodeTokens;
    this.span.begin(now, firstSeconds, stepTime.secondsPerKvToken * this.decoding);
    const untilFinish = this.finishes.nextStep - this.step;
    const untilFull = Math.floor((kvTokens - this.decodeTokens) / this.decoding) + 1;
    // After a preemption the head may fit as soon as the next step may admit again.
    this.phaseSteps = preempted ? 1 : Math.min(untilFinish, untilFull);
    this.phaseEnd = this.span.endSeconds(this.phaseSteps);
    if (this.queue.size > 0 && this.headArrival() > now) this.cutSpan(this.headArrival());
  }

  /** Books the steps of the phase that ends, and what they finish. */
  private completePhase(onEvent: OnReplicaEvent): void {
    const { table } = this;
    const now = this.phaseEnd;
    this.step += this.phaseSteps;
    this.peakKvTokens = Math.max(this.peakKvTokens, this.decodeTokens + this.prefillTokens + this.decoding * (this.phaseSteps - 1));
    this.decodeTokens += this.decoding * this.phaseSteps;
    this.busyBefore += now - this.phaseStart;

    while (this.finishes.nextStep <= this.step) {
      const slot = this.finishes.pop();
      this.decoding--;
      this.decodeTokens -= (table.inputTokens[slot] ?? 0) + (table.outputTokens[slot] ?? 0);
      this.finish(slot, now, onEvent);
    }
    if (this.phase === MIXED_STEP) this.completePrefills(now, onEvent);
    if (this.aborting > 0) this.dropAborted();
  }

  private completePrefills(now: number, onEvent: OnReplicaEvent): void {
    const { table } = this;
    for (let left = this.completing; left > 0; left--) {
      const slot = this.prefills.popFront();
      this.prefillTokens -= table.prefillTarget(slot);
      const generated = (table.generated[slot] ?? 0) + 1;
      const output = table.outputTokens[slot] ?? 1;
      if (generated === 1 && table.aborted[slot] === 0) onEvent("first-token", table.handle[slot] ?? 0, now);
      if (generated === output) {
        this.finish(slot, now, onEvent);
        continue;
      }
      table.generated[slot] = generated;
      table.state[slot] = DECODING;
      table.decodingSince[slot] = this.step;
      this.decoding++;
      this.decodeTokens += table.prefillTarget(slot);
      this.finishes.push(slot, this.step + output - generated, table.order[slot] ?? 0);
    }
    const partial = this.prefills.at(0);
    if (this.partialTokens > 0) table.prefilled[partial] = (table.prefilled[partial] ?? 0) + this.partialTokens;
  }

  /** Books a sequence out that no structure holds any more but the list of the running. */
  private finish(slot: number, now: number, onEvent: OnReplicaEvent): void {
    const { table } = this;
    table.unlink(slot);
    table.release(slot);
    this.running--;
    if (table.aborted[slot] === 1) {
      this.aborting--;
      return;
    }
    const handle = table.handle[slot] ?? 0;
    this.slotOf.delete(handle);
    onEvent("finished", handle, now);
  }

  private dropAborted(): void {
    for (let slot = this.table.lastAdmitted; slot !== -1; ) {
      const before = this.table.admittedBefore(slot);
      if (this.table.aborted[slot] === 1) {
        this.leaveBatch(slot);
        this.table.release(slot);
        this.aborting--;
      }
      slot = before;
    }
  }

  /** Takes a running sequence out of the batch and frees its cache. */
  private leaveBatch(slot: number): void {
    const { table } = this;
    if (table.state[slot] === DECODING) {
      table.generated[slot] = this.generatedAtBoundary(slot);
      this.decodeTokens -= table.prefillTarget(slot);
      this.decoding--;
      this.finishes.remove(slot);
    } else {
      this.prefillTokens -= table.prefillTarget(slot);
      this.prefills.remove(slot);
    }
    table.unlink(slot);
    this.running--;
  }
}

import { DecodeSpan } from "./decodeSpan";
import { Feedback } from "./feedback";
import { Pace } from "./pace";
import type { EngineRequest, LookUpPrefix, OnReplicaEvent, OnSteps, StepRun } from "./replica";
import type { ReplicaModel } from "./replicaModel";
import { RunningBatch } from "./runningBatch";
import { DECODING, SequenceTable, WAITING } from "./sequenceTable";
import { Starvation } from "./starvation";
import { WaitingQueue } from "./waitingQueue";

/** The engine's activity from the last step boundary to the next event. */
const IDLE = 0;
const MIXED_STEP = 1;
const DECODE_SPAN = 2;

/**
 * A replica with continuous batching as vLLM V1 schedules it (vllm/v1/core/sched/scheduler.py): every step gives each decoding
 * sequence one token; the rest of the step's token budget prefills admitted prompts in the order of admission, in chunks.
 * The queue is served by priority (lower first), then by arrival, and admission stops at the first request whose prompt does
 * not fit the KV cache. When decoding outgrows the cache, the running sequence with the largest priority value, among equals the latest
 * arrival, is preempted: it loses its cache, returns to its place in the queue, and recomputes. As in vLLM, no
 * running sequence is preempted just because a more urgent one waits, unless the model has `feedback` (see `Feedback`). Without priorities this is first come, first served. A model with
 * `aging` first serves requests that have been passed over for too long (see `Starvation`).
 *
 * Runs of steps without prefill work between two events are computed in closed form, so that the cost is per event, not per token.
 *
 * Unlike vLLM it counts the cache in tokens, not in blocks, reserves a whole prompt at admission, and lets each sequence hold
 * its own copy of its cached prefix, where vLLM shares the blocks: the more prefixes are shared, the less room it has than vLLM.
 */
export class ContinuousBatching {
  preemptions = 0;
  peakKvTokens = 0;
  /** Seconds after the end of a step at which clients see its tokens: the time of the front end for them. */
  seenDelaySeconds = 0;

  private readonly table = new SequenceTable();
  private readonly slotOf = new Map<number, number>();
  private readonly starvation: Starvation | null;
  private readonly feedback: Feedback | null;
  private readonly queue: WaitingQueue;
  private readonly batch: RunningBatch;
  private readonly span = new DecodeSpan();
  private readonly pace: Pace | null;

  private advancedTo = Number.NEGATIVE_INFINITY;
  private lastEnqueued = Number.NEGATIVE_INFINITY;
  private enqueued = 0;
  private aborting = 0;

  private phase = IDLE;
  private phaseStart = 0;
  private phaseEnd = Number.POSITIVE_INFINITY;
  private phaseSteps = 0;
  private busyBefore = 0;

  constructor(
    private readonly model: ReplicaModel,
    private readonly onSteps: OnSteps | undefined,
    private readonly lookUpPrefix?: LookUpPrefix,
  ) {
    const starvation = model.aging === undefined ? null : new Starvation(this.table, model.aging);
    this.starvation = starvation;
    this.queue = new WaitingQueue(this.table, starvation && ((slot) => starvation.waits(slot, this.batch.step)));
    this.batch = new RunningBatch(this.table, model.maxSequences);
    this.feedback = model.feedback === undefined ? null : new Feedback(this.table, this.batch, model.feedback);
    this.pace = model.paceVariation === undefined ? null : new Pace(model.paceVariation);
  }

  get promotions(): number {
    return this.starvation?.promotions ?? 0;
  }

  get running(): number {
    return this.batch.size;
  }

  get waiting(): number {
    return this.queue.size;
  }

  get kvTokensUsed(): number {
    return this.batch.kvTokens + this.batch.decoding * this.stepsDoneBy(this.advancedTo);
  }

  get busySeconds(): number {
    return this.phase === IDLE ? this.busyBefore : this.busyBefore + Math.max(0, this.advancedTo - this.phaseStart);
  }

  /** Tokens that each current step makes at its end; 0 when idle. */
  get stepTokens(): number {
    if (this.phase === IDLE) return 0;
    return this.batch.decoding + (this.phase === MIXED_STEP ? this.batch.completing : 0);
  }

  /** Tokens that the current steps make before the last of them ends. */
  get innerTokens(): number {
    return this.phase === IDLE ? 0 : this.stepTokens * (this.phaseSteps - 1);
  }

  /** Seconds from the beginning of the current steps to their end; Infinity when idle. */
  get phaseSeconds(): number {
    return this.phaseEnd - this.phaseStart;
  }

  get stepsSoFar(): StepRun | null {
    const steps = this.stepsDoneBy(this.advancedTo);
    return steps === 0 ? null : this.runOf(steps, this.span.endSeconds(steps));
  }

  /**
   * Adds a request that enters no earlier than it is sent and no earlier than the requests before it. Infinity: `enter` sets the time
   * later.
   *
   * @returns false, and nothing changed, when prompt and answer together exceed the KV cache.
   */
  enqueue(
    handle: number,
    { atSeconds, inputTokens, outputTokens, priority = 0, cachedTokens = 0 }: EngineRequest,
    entersAtSeconds: number,
  ): boolean {
    if (!(inputTokens >= 0 && outputTokens >= 0 && cachedTokens >= 0)) {
      throw new Error(`Token counts must be 0 or more, found ${inputTokens} in, ${cachedTokens} of them cached, and ${outputTokens} out`);
    }
    if (!Number.isFinite(priority)) throw new Error(`A priority must be a finite number, found ${priority}`);
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
    table.arrivalSeconds[slot] = entersAtSeconds;
    table.priority[slot] = priority;
    table.order[slot] = this.enqueued++;
    table.inputTokens[slot] = input;
    table.cachedTokens[slot] = Math.min(cachedTokens, input - 1);
    table.outputTokens[slot] = output;
    table.generated[slot] = 0;
    table.aborted[slot] = 0;
    table.ahead[slot] = 0;
    table.waitsSince[slot] = -1;
    table.levelServed[slot] = 0;
    table.state[slot] = WAITING;
    this.slotOf.set(handle, slot);
    this.lastEnqueued = atSeconds;
    // Behind others it changes nothing: they wait for a finish, or have already cut the span. With aging, its steps count from here.
    if (this.queue.push(slot) || this.starvation !== null) this.cutSpan(entersAtSeconds);
    return true;
  }

  /** Lets a request enter that was added without a time: all requests added before it have entered. */
  enter(handle: number, atSeconds: number): void {
    const slot = this.slot(handle);
    this.table.arrivalSeconds[slot] = atSeconds;
    if (this.queue.leads(slot) || this.starvation !== null) this.cutSpan(atSeconds);
  }

  /** When a request inside has entered or will enter; Infinity while that is not known. */
  enteredSeconds(handle: number): number {
    return this.table.arrivalSeconds[this.slot(handle)] ?? 0;
  }

  nextEventSeconds(): number {
    if (this.phase !== IDLE) return this.phaseEnd;
    return this.queue.size === 0 ? Number.POSITIVE_INFINITY : this.queue.headArrivalSeconds;
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
      this.starvation?.left(slot, this.batch.step + this.stepsDoneBy(atSeconds));
      this.table.release(slot);
      // If it blocked the queue, the one behind it may fit at the next step.
      if (this.queue.size === 0) return;
      const { headArrivalSeconds } = this.queue;
      if (headArrivalSeconds > atSeconds) this.cutSpan(headArrivalSeconds);
      else this.cutSpanAfter(atSeconds);
      return;
    }
    this.table.aborted[slot] = 1;
    this.aborting++;
    this.cutSpanAfter(atSeconds);
  }

  generatedTokens(handle: number, atSeconds: number): number {
    const slot = this.slot(handle);
    const before = this.batch.generatedTokens(slot);
    return this.table.state[slot] === DECODING ? before + this.stepsDoneBy(atSeconds) : before;
  }

  private slot(handle: number): number {
    const slot = this.slotOf.get(handle);
    if (slot === undefined) throw new Error(`No request inside this replica bears the handle ${handle}`);
    return slot;
  }

  private stepsDoneBy(seconds: number): number {
    if (this.phase !== DECODE_SPAN) return 0;
    return seconds >= this.phaseEnd ? this.phaseSteps : this.span.stepsDoneBy(seconds);
  }

  /** Ends a decode span at its first step boundary at or after a time: for arrivals, which a step that begins then includes. */
  private cutSpan(seconds: number): void {
    if (this.phase === DECODE_SPAN && seconds < this.phaseEnd) this.endSpanWith(this.span.stepsReaching(seconds));
  }

  /** Ends a decode span at its first step boundary after a time: for aborts, which do not affect a step that begins then. */
  private cutSpanAfter(seconds: number): void {
    if (this.phase === DECODE_SPAN && seconds < this.phaseEnd) this.endSpanWith(this.span.stepsDoneBy(seconds) + 1);
  }

  private endSpanWith(steps: number): void {
    this.phaseSteps = Math.min(this.phaseSteps, steps);
    this.phaseEnd = this.span.endSeconds(this.phaseSteps);
  }

  /** At a step boundary: preempt, prefill, admit, and begin the next step or span. */
  private schedule(now: number, onEvent: OnReplicaEvent): void {
    const { batch, model } = this;
    this.starvation?.promote(batch.step, this.queue);
    this.feedback?.demote();
    const preempted = this.preemptUntilItFits(now, onEvent);
    this.queue.settle(now);
    if (this.feedback !== null && !preempted) this.makeRoomForHead(this.feedback, now, onEvent);
    batch.fillStep(model.maxBatchedTokens);
    // As in vLLM, a step that had to preempt admits nothing.
    while (!preempted && batch.budget > 0 && this.headMayEnter()) this.admit(now, onEvent);

    this.phaseStart = now;
    const load = batch.prefillLoad();
    if (load !== null) {
      this.phase = MIXED_STEP;
      this.phaseSteps = 1;
      this.phaseEnd = now + (this.pace?.at(now) ?? 1) * model.stepTime.mixedStepSeconds(load);
    } else if (batch.decoding > 0) {
      this.beginSpan(now, preempted);
    } else {
      this.phase = IDLE;
      this.phaseEnd = Number.POSITIVE_INFINITY;
    }
    this.peakKvTokens = Math.max(this.peakKvTokens, batch.kvTokens);
  }

  private preemptUntilItFits(now: number, onEvent: OnReplicaEvent): boolean {
    if (this.batch.kvTokens <= this.model.kvTokens) return false;
    this.starvation?.book(this.batch.step);
    while (this.batch.kvTokens > this.model.kvTokens) this.preempt(this.batch.last(), now, onEvent);
    return true;
  }

  /** Takes running requests of lower levels out for the head of the queue, where it fits in their place and not otherwise. */
  private makeRoomForHead(feedback: Feedback, now: number, onEvent: OnReplicaEvent): void {
    if (!this.queue.ready || this.headMayEnter()) return;
    this.starvation?.book(this.batch.step);
    if (!feedback.makesRoom(this.queue, this.model)) return;
    const { head } = this.queue;
    while (!this.headMayEnter()) this.preempt(feedback.victim(head), now, onEvent);
  }

  private preempt(slot: number, now: number, onEvent: OnReplicaEvent): void {
    this.batch.leave(slot);
    this.queue.putBack(slot);
    this.starvation?.waits(slot, this.batch.step);
    this.preemptions++;
    onEvent("preempted", this.table.handle[slot] ?? 0, now, now);
  }

  private headMayEnter(): boolean {
    if (!this.queue.ready || this.batch.size >= this.model.maxSequences) return false;
    // One token more than the prompt: the one that its prefill yields, which the next step stores.
    return this.batch.kvTokens + this.table.prefillTarget(this.queue.head) < this.model.kvTokens;
  }

  private admit(now: number, onEvent: OnReplicaEvent): void {
    const { table } = this;
    const slot = this.queue.popFront();
    if (this.lookUpPrefix !== undefined) {
      const found = this.lookUpPrefix(table.handle[slot] ?? 0, this.model.kvTokens - this.batch.kvTokens);
      table.cachedTokens[slot] = Math.min(found, (table.inputTokens[slot] ?? 1) - 1);
    }
    this.batch.admit(slot);
    this.starvation?.taken(slot, this.batch.step);
    this.feedback?.taken(slot);
    onEvent("admitted", table.handle[slot] ?? 0, now, now);
  }

  private beginSpan(now: number, preempted: boolean): void {
    const { decoding, decodeTokens, stepsToFinish } = this.batch;
    const { stepTime, kvTokens } = this.model;
    this.phase = DECODE_SPAN;
    const factor = this.pace?.at(now) ?? 1;
    const firstSeconds = stepTime.decodeBaseSeconds(decoding) + stepTime.secondsPerKvToken * decodeTokens;
    this.span.begin(now, factor * firstSeconds, factor * stepTime.secondsPerKvToken * decoding);
    const untilFull = Math.floor((kvTokens - decodeTokens) / decoding) + 1;
    // After a preemption the head may fit as soon as the next step may admit again.
    this.phaseSteps = preempted ? 1 : Math.min(stepsToFinish, untilFull);
    this.phaseEnd = this.span.endSeconds(this.phaseSteps);
    if (this.queue.size === 0) return;
    // A request that comes later cuts the span when it enters.
    if (this.feedback !== null && this.queue.ready) this.cutFeedbackSpan(this.feedback);
    if (this.starvation === null) this.cutSpan(this.queue.nextLeadSeconds());
    else this.cutAgingSpan(this.starvation);
  }

  /** Ends the span where the head of the queue may get room: at once while more of lower levels run, else when one of the batch moves down. */
  private cutFeedbackSpan(feedback: Feedback): void {
    this.starvation?.book(this.batch.step);
    const toLower = Math.min(feedback.stepsToDemotion(), this.starvation?.stepsAhead() ?? Number.POSITIVE_INFINITY);
    const steps = feedback.makesRoom(this.queue, this.model) ? 1 : toLower;
    if (steps < this.phaseSteps) this.endSpanWith(steps);
  }

  /** Ends the span before the next request arrives, whose waiting steps count from then, or is put ahead, if it could be admitted then. */
  private cutAgingSpan(starvation: Starvation): void {
    this.cutSpan(this.queue.nextArrivalSeconds());
    if (this.feedback === null && this.batch.size >= this.model.maxSequences) return;
    const steps = starvation.nextPromotion() - this.batch.step;
    if (steps < this.phaseSteps) this.endSpanWith(steps);
  }

  /** Records the steps of the phase that ends, and the requests that they finish. */
  private completePhase(onEvent: OnReplicaEvent): void {
    const { batch, phaseSteps, phaseEnd: now } = this;
    const run = this.onSteps && this.runOf(phaseSteps, now);
    this.peakKvTokens = Math.max(this.peakKvTokens, batch.kvTokens + batch.decoding * (phaseSteps - 1));
    this.busyBefore += now - this.phaseStart;

    batch.pass(phaseSteps);
    for (let slot = batch.popFinished(); slot !== -1; slot = batch.popFinished()) this.finish(slot, now, onEvent);
    if (this.phase === MIXED_STEP) this.completePrefills(now, onEvent);
    if (this.aborting > 0) this.dropAborted();
    if (run) this.onSteps?.(run);
  }

  /** The first steps of the current phase, up to a step's end. */
  private runOf(steps: number, toSeconds: number): StepRun {
    const { phaseStart, span } = this;
    const { decoding, kvTokens } = this.batch;
    const isSpan = this.phase === DECODE_SPAN;
    return {
      fromSeconds: phaseStart,
      toSeconds,
      steps,
      firstSeconds: isSpan ? span.firstSeconds : toSeconds - phaseStart,
      growthSeconds: isSpan ? span.growthSeconds : 0,
      decoding,
      firstKvTokens: kvTokens,
      lastKvTokens: kvTokens + decoding * (steps - 1),
    };
  }

  private completePrefills(now: number, onEvent: OnReplicaEvent): void {
    const { batch, table } = this;
    for (let left = batch.completing; left > 0; left--) {
      const slot = batch.completePrefill();
      if (table.generated[slot] === 1 && table.aborted[slot] === 0)
        onEvent("first-token", table.handle[slot] ?? 0, now, now + this.seenDelaySeconds);
      if (table.state[slot] !== DECODING) this.finish(slot, now, onEvent);
    }
    batch.bookPartial();
  }

  /** Records the end of a sequence that has all its tokens and has left the batch. */
  private finish(slot: number, now: number, onEvent: OnReplicaEvent): void {
    const { table } = this;
    table.release(slot);
    if (table.aborted[slot] === 1) {
      this.aborting--;
      return;
    }
    const handle = table.handle[slot] ?? 0;
    this.slotOf.delete(handle);
    onEvent("finished", handle, now, now + this.seenDelaySeconds);
  }

  private dropAborted(): void {
    for (let slot = this.table.lastAdmitted; slot !== -1; ) {
      const before = this.table.admittedBefore(slot);
      if (this.table.aborted[slot] === 1) {
        this.batch.leave(slot);
        this.table.release(slot);
        this.aborting--;
      }
      slot = before;
    }
  }
}

import type { ContinuousBatching } from "./continuousBatching";
import type { EngineRequest, OnReplicaEvent, Replica, StepRun } from "./replica";
import type { ReplicaModel } from "./replicaModel";

/** A request that has not entered the engine core: its arrival, and the seconds of front-end work on it. */
interface Pending {
  readonly handle: number;
  readonly atSeconds: number;
  readonly workSeconds: number;
}

/**
 * An engine core behind its front end: the process that receives requests (HTTP, tokenising) and streams their tokens (detokenising, HTTP).
 * It is a single server. A request takes `requestSeconds` of it before it enters the core, in the order of arrival. A token takes
 * `tokenSeconds` once its step has ended. Tokens go before requests: an event loop handles all outputs of a step before it starts the next
 * request, so that a busy core slows the intake. Between two events of the core its tokens count as a steady flow, those of the last step
 * as one piece of work: the cost is per event, not per token. Without `tokenSeconds` a request's entry time follows from the arrivals
 * alone.
 */
export class FrontEndReplica implements Replica {
  private readonly tokenSeconds: number;
  private readonly delaySeconds: number;
  /** When the front end has finished all requests so far; used without `tokenSeconds`. */
  private freeAt = Number.NEGATIVE_INFINITY;

  /** In the order of arrival; used with `tokenSeconds`, as are all fields below. */
  private readonly pending: Pending[] = [];
  /** The last event of the core, the remaining seconds of work on tokens then, and the seconds of such work that arrive each second. */
  private sinceSeconds = Number.NEGATIVE_INFINITY;
  private tokenBacklog = 0;
  private tokenLoad = 0;
  /** Seconds of work on requests from `sinceSeconds` on until the first pending one enters; NaN before it is begun. */
  private due = Number.NaN;

  constructor(
    private readonly model: ReplicaModel,
    private readonly core: ContinuousBatching,
  ) {
    this.tokenSeconds = model.tokenSeconds ?? 0;
    this.delaySeconds = model.delaySeconds ?? 0;
    core.seenDelaySeconds = this.delaySeconds;
  }

  get running(): number {
    return this.core.running;
  }

  get waiting(): number {
    return this.core.waiting;
  }

  get kvTokensUsed(): number {
    return this.core.kvTokensUsed;
  }

  get peakKvTokens(): number {
    return this.core.peakKvTokens;
  }

  get busySeconds(): number {
    return this.core.busySeconds;
  }

  get preemptions(): number {
    return this.core.preemptions;
  }

  get promotions(): number {
    return this.core.promotions;
  }

  get stepsSoFar(): StepRun | null {
    return this.core.stepsSoFar;
  }

  enqueue(handle: number, request: EngineRequest): boolean {
    const { atSeconds, inputTokens } = request;
    const workSeconds = this.model.requestSeconds(inputTokens);
    if (this.tokenSeconds === 0) {
      const entersAt = Math.max(this.freeAt, atSeconds) + workSeconds;
      if (!this.core.enqueue(handle, request, entersAt)) return false;
      this.freeAt = entersAt;
      return true;
    }
    if (!this.core.enqueue(handle, request, Number.POSITIVE_INFINITY)) return false;
    this.pending.push({ handle, atSeconds, workSeconds });
    return true;
  }

  nextEventSeconds(): number {
    return Math.min(this.core.nextEventSeconds(), this.nextIntakeSeconds());
  }

  advanceTo(seconds: number, onEvent: OnReplicaEvent): void {
    while (this.tokenSeconds > 0) {
      const coreAt = this.core.nextEventSeconds();
      const intakeAt = this.nextIntakeSeconds();
      if (Math.min(coreAt, intakeAt) > seconds || Math.min(coreAt, intakeAt) === Number.POSITIVE_INFINITY) break;
      // A request that enters at the end of a step joins the next step.
      if (coreAt < intakeAt) this.passCoreEvent(coreAt, onEvent);
      else this.takeIn(intakeAt);
    }
    this.core.advanceTo(seconds, onEvent);
  }

  abort(handle: number, atSeconds: number): void {
    const at = this.pending.findIndex((one) => one.handle === handle);
    if (at >= 0) this.pending.splice(at, 1);
    // The work on a request that is aborted half way is lost.
    if (at === 0) this.beginNext(atSeconds);
    this.core.abort(handle, atSeconds);
  }

  generatedTokens(handle: number, atSeconds: number): number {
    return this.core.generatedTokens(handle, atSeconds);
  }

  enteredSeconds(handle: number): number {
    return this.core.enteredSeconds(handle);
  }

  /** When the first pending request is begun or enters the core; Infinity without one, and while tokens leave no time for it. */
  private nextIntakeSeconds(): number {
    const [head] = this.pending;
    if (head === undefined) return Number.POSITIVE_INFINITY;
    if (Number.isNaN(this.due)) return head.atSeconds;
    if (this.tokenLoad >= 1) return Number.POSITIVE_INFINITY;
    // Before the core's first event there was nothing but requests.
    return this.sinceSeconds + (this.tokenBacklog + this.due) / (1 - this.tokenLoad);
  }

  /** Seconds of front-end time available for requests since the core's last event. */
  private spentBy(seconds: number): number {
    return Math.max(0, (1 - this.tokenLoad) * (seconds - this.sinceSeconds) - this.tokenBacklog);
  }

  /** Begins the first pending request, or hands it to the core and begins the next. */
  private takeIn(seconds: number): void {
    if (Number.isNaN(this.due)) {
      if (this.sinceSeconds === Number.NEGATIVE_INFINITY) this.sinceSeconds = seconds;
      this.beginNext(seconds);
      return;
    }
    const head = this.pending.shift();
    if (head !== undefined) this.core.enter(head.handle, seconds);
    this.beginNext(seconds);
  }

  private beginNext(seconds: number): void {
    const [head] = this.pending;
    const begun = head !== undefined && head.atSeconds <= seconds;
    this.due = begun ? this.spentBy(seconds) + head.workSeconds : Number.NaN;
  }

  /** Processes the core's next event, with the tokens that it has made by then. */
  private passCoreEvent(seconds: number, onEvent: OnReplicaEvent): void {
    const { core, tokenSeconds, sinceSeconds } = this;
    const { stepTokens, innerTokens } = core;
    if (sinceSeconds !== Number.NEGATIVE_INFINITY) {
      this.due -= this.spentBy(seconds);
      const left = this.tokenBacklog + tokenSeconds * innerTokens - (seconds - sinceSeconds);
      this.tokenBacklog = Math.max(0, left) + tokenSeconds * stepTokens;
    }
    // Clients see the tokens of a step once the front end has processed all of them and the backlog.
    core.seenDelaySeconds = this.delaySeconds + this.tokenBacklog;
    core.advanceTo(seconds, onEvent);
    this.sinceSeconds = seconds;
    this.tokenLoad = core.innerTokens === 0 ? 0 : (tokenSeconds * core.innerTokens) / core.phaseSeconds;
  }
}

import type { EndSignal } from "@/server/lib/requestEnd";
import type { MemoryForecast } from "@/solver/policies/core/memoryForecast";
import type { Action, GraceThreshold, Outage, Policy, View, WaitingWork } from "@/solver/policies/core/policy";
import type { Replica } from "../engines/replica";
import type { RoundTallies } from "./roundTallies";
import { type Failed, type Grant, type Judgement, WaitingEntry, type Work, type WorkSearch } from "./waitingEntry";

/** How an engine's work on a request ended. */
interface Released {
  readonly failed: boolean;
  /** On the clock of `performance.now()`, if the answer was streamed. */
  readonly firstTokenMs?: number | undefined;
}

/**
 * Bounds of the time until the next call of the policy, in wall milliseconds: on a fast clock the policy's memory slots are shorter than is
 * worth a call.
 */
const soonestMs = 10;
const latestMs = 10_000;
/** Actions from which on a map of all waiting work costs less than looking for the work of each. */
const MANY_ACTIONS = 16;

const queuedState = { kind: "queued" } as const;

/** The policy's view, with the engines themselves. */
interface EngineView extends View {
  readonly replicas: readonly Replica[];
}

interface DriverOptions {
  readonly policy: Policy;
  /** The engines at this moment. */
  readonly replicas: (nowMs: number) => readonly Replica[];
  /** Which models have no engines at this moment. */
  readonly outage: () => Outage;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  /** Work that waits for an engine, by line, over all drivers; this driver updates its share of it. */
  readonly queued: Map<string, number>;
  /** The line that counts all its waiting work, if the policy chooses models at dispatch; absent: each under its model. */
  readonly line?: string | undefined;
  /** Called with the moment when an engine got room; the queues that may use it are pumped, this driver's among them. */
  readonly onRoom: (nowMs: number) => void;
  /** Increases whenever forecasts of waiting work may have changed; absent: they never do. */
  readonly forecastRevision?: () => number;
  /** Times the policy's decisions, and counts those of a policy that chooses models at dispatch; absent: neither. */
  readonly rounds?: RoundTallies;
}

/**
 * Drives a policy in real time: holds the waiting work, calls the policy whenever something it can act on has changed (work arrived, was
 * judged or was returned, an engine got room or came back), and carries out its actions. For work that the policy holds although there is
 * room, it is called again at the time that it states, which is soon enough to see new telemetry too. The clock is read once for an event
 * and the decision on it, as in the simulator's driver, so that a recorded run can be replayed there.
 */
export class PolicyDriver {
  readonly policy: Policy;
  readonly #options: DriverOptions;
  /** In order of arrival; if models are chosen at dispatch, in the order in which programs began. */
  #waiting: WaitingEntry[] = [];
  /** Set while the policy holds work. */
  #timer: NodeJS.Timeout | undefined;
  #wakesAtMs = Number.POSITIVE_INFINITY;
  /** The revision of the forecasts that waiting work has. */
  #forecastRevision = 0;
  /** Work that waits beside each running search. */
  readonly #beside = new Map<WorkSearch, WaitingEntry[]>();
  /** Requests that began with this policy and are not answered yet. */
  active = 0;

  constructor(options: DriverOptions) {
    this.policy = options.policy;
    this.#options = options;
  }

  /** When the longest waiting work joined, in engine seconds; undefined when none waits. */
  get oldestSeconds(): number | undefined {
    if (!this.policy.choosesModel) return this.#waiting[0]?.queuedSinceSeconds;
    let oldest: number | undefined;
    for (const { queuedSinceSeconds } of this.#waiting) if (!(queuedSinceSeconds >= (oldest ?? Infinity))) oldest = queuedSinceSeconds;
    return oldest;
  }

  /** The line that counts work that waits for `model`. */
  lineOf(model: string): string {
    return this.#options.line ?? model;
  }

  /** The policy's forecast of engines' memory at a moment of `performance.now()`; null if it packs none. */
  memory(nowMs: number): MemoryForecast | null {
    return this.policy.memory?.(this.#view(nowMs)) ?? null;
  }

  /** The thresholds that overload has lowered now, with since when in Unix milliseconds. */
  grace(): readonly (GraceThreshold & { readonly model: string; readonly sinceMs: number })[] {
    const nowSeconds = this.#secondsAt(performance.now());
    return (this.policy.grace?.(nowSeconds) ?? []).map((lowered) => ({
      ...lowered,
      model: this.policy.modelOfStage(lowered.stage),
      sinceMs: Date.now() - ((nowSeconds - lowered.sinceSeconds) / this.#options.timeScale) * 1000,
    }));
  }

  /**
   * Waits in the queue of the stage's model, or of any model if the policy chooses at dispatch, until the policy sends the work to an
   * engine, which then counts it in flight: at once if an engine has room.
   */
  queue(work: Work, signal: EndSignal): Grant | Promise<Grant> {
    const outcome = this.#wait(work, queuedState, signal);
    return outcome instanceof Promise ? outcome.then(grantOf) : grantOf(outcome);
  }

  /** Passes a judged answer to the policy; `judgedScore` is null if the judge gave none. */
  async judged(
    work: Work,
    { judgedScore, signal }: { readonly judgedScore: number | null; readonly signal: EndSignal },
  ): Promise<Judgement> {
    const waited = this.#wait(work, { kind: "answered", judgedScore }, signal);
    const outcome = waited instanceof Promise ? await waited : waited;
    if (outcome.kind === "granted" || outcome.kind === "withdrawn" || outcome.kind === "skip")
      throw new Error(`The policy dispatched answered work: ${outcome.kind}.`);
    return outcome;
  }

  /** The engine has finished the work, successfully or not. Returns the time in engine seconds. */
  release(workId: string, replica: Replica, { failed, firstTokenMs }: Released): number {
    const nowMs = performance.now();
    const nowSeconds = this.#secondsAt(nowMs);
    replica.end();
    const finished = { kind: "finished", workId, replicaId: replica.id, nowSeconds, failed } as const;
    const firstTokenSeconds = firstTokenMs === undefined ? undefined : this.#secondsAt(firstTokenMs);
    this.policy.observe(firstTokenSeconds === undefined ? finished : { ...finished, servedSeconds: nowSeconds - firstTokenSeconds });
    this.#options.onRoom(nowMs);
    return nowSeconds;
  }

  /** The program has ended: no request of it follows. */
  end(programId: string): void {
    this.policy.observe({ kind: "ended", programId });
  }

  /** Withdraws queued work whose model is no longer served. */
  withdraw(served: (model: string) => boolean): void {
    for (const entry of this.#waiting) {
      if (entry.state.kind === "queued" && !served(this.policy.modelOfStage(entry.stage))) this.#settle(entry, { kind: "withdrawn" });
    }
    this.#sweep();
  }

  /** Calls the policy and carries out its actions. */
  pump(nowMs: number): void {
    if (this.#waiting.length === 0) return;
    const begunMs = performance.now();
    this.#reforecast(nowMs);
    const view = this.#view(nowMs);
    const actions = this.policy.decide(view);
    if (actions.length > 0) this.#carryOut(actions, view);
    this.#askAgain(nowMs);
    this.#options.rounds?.decided((performance.now() - begunMs) / 1000);
  }

  /** Gives queued work the forecasts in force, if these have changed since. */
  #reforecast(nowMs: number): void {
    const revision = this.#options.forecastRevision?.() ?? 0;
    if (revision === this.#forecastRevision) return;
    this.#forecastRevision = revision;
    const nowSeconds = this.#secondsAt(nowMs);
    for (const entry of this.#waiting) if (entry.state.kind === "queued") entry.reforecast(nowSeconds);
  }

  #carryOut(actions: readonly Action[], { nowSeconds, replicas }: EngineView): void {
    if (this.policy.choosesModel) this.#options.rounds?.round(actions, replicas);
    const entryOf = this.#finder(actions.length);
    for (const action of actions) {
      const entry = entryOf(action.workId);
      if (!entry) throw new Error(`The policy acted on ${action.workId}, which does not wait.`);
      if (action.kind === "refuse") {
        const { cause, reason } = action;
        this.#settle(entry, { kind: "refused", cause, reason });
        continue;
      }
      if (action.kind === "skip") {
        this.#settle(entry, action);
        continue;
      }
      if (action.kind !== "dispatch") {
        this.#settle(entry, { ...action, judgedSeconds: nowSeconds });
        continue;
      }
      const replica = replicas.find((candidate) => candidate.id === action.replicaId);
      if (!replica) throw new Error(`The policy chose ${action.replicaId}, which is not among the replicas.`);
      replica.begin();
      this.policy.observe({ kind: "dispatched", workId: entry.id, programId: entry.programId, replicaId: replica.id, nowSeconds });
      const { stage = entry.stage, degraded = null } = action;
      this.#settle(entry, {
        kind: "granted",
        replica,
        stage,
        degraded,
        priority: wholeOf(action.priority),
        queuedSeconds: entry.queuedSinceSeconds,
        dispatchedSeconds: nowSeconds,
        searchedSeconds: entry.searchedSeconds,
      });
    }
    this.#sweep();
  }

  /** Finds waiting work by its id, so many times. */
  #finder(times: number): (id: string) => WaitingEntry | undefined {
    const waiting = this.#waiting;
    if (times < MANY_ACTIONS) return (id) => waiting.find((entry) => entry.id === id && entry.outcome === null);
    const byId = new Map(waiting.map((entry) => [entry.id, entry]));
    return (id) => {
      const entry = byId.get(id);
      return entry?.outcome === null ? entry : undefined;
    };
  }

  /** Schedules the next call of the policy about work that it has just held. */
  #askAgain(nowMs: number): void {
    this.#sleep();
    const seconds = this.policy.askAgainSeconds?.() ?? null;
    if (seconds === null || this.#waiting.length === 0) return;
    const ms = ((seconds - this.#secondsAt(nowMs)) / this.#options.timeScale) * 1000;
    this.#wakeAfter(Math.min(latestMs, Math.max(soonestMs, Math.ceil(ms))));
  }

  /** Pumps after that time, or sooner if another timer is due. */
  #wakeAfter(ms: number): void {
    const atMs = performance.now() + ms;
    if (atMs >= this.#wakesAtMs) return;
    clearTimeout(this.#timer);
    this.#wakesAtMs = atMs;
    this.#timer = setTimeout(() => this.#pumpAlone(), ms);
    this.#timer.unref();
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
  }

  /** Waits for the entry's search, unless other work of its program does already. */
  #waitBeside(search: WorkSearch, entry: WaitingEntry): void {
    const beside = this.#beside.get(search);
    if (beside !== undefined) return void beside.push(entry);
    this.#beside.set(search, [entry]);
    void search.ended.then(() => this.#searched(search));
  }

  /** Says what a search found to all work that waited beside it, before the next decision. */
  #searched(search: WorkSearch): void {
    const nowMs = performance.now();
    const waiting = (this.#beside.get(search) ?? []).filter(({ outcome }) => outcome === null);
    this.#beside.delete(search);
    if (waiting.length === 0) return;
    this.#alone(() => {
      for (const entry of waiting) {
        entry.searched(search, this.#secondsAt(nowMs));
        this.policy.observe({ kind: "searched", work: entry });
      }
      this.pump(nowMs);
    });
  }

  #pumpAlone(): void {
    this.#sleep();
    this.#alone(() => this.pump(performance.now()));
  }

  /** Calls the policy without a request that could carry a failure. */
  #alone(call: () => void): void {
    try {
      call();
    } catch (error) {
      // A bug of the policy fails the work that waits for it, and not the gateway.
      for (const entry of this.#waiting) this.#settle(entry, { kind: "failed", error });
      this.#sweep();
    }
  }

  /** The outcome, at once if the policy decides on the work as it comes. */
  #wait(work: Work, state: WaitingWork["state"], signal: EndSignal): Grant | Judgement | Promise<Grant | Judgement> {
    if (signal.aborted) return { kind: "aborted" };
    const nowMs = performance.now();
    const entry = new WaitingEntry(work, state, this.#secondsAt(nowMs));
    if (state.kind === "queued") entry.reforecast(this.#secondsAt(nowMs));
    this.#insert(entry);
    this.#count(entry, 1);
    if (entry.searching === true && work.search) this.#waitBeside(work.search, entry);
    try {
      if (state.kind === "queued") this.policy.observe({ kind: "queued", work: entry });
      this.pump(nowMs);
    } catch (error) {
      // A bug of the policy fails this work, but does not block its place in the queue.
      this.#settle(entry, { kind: "failed", error });
      this.#sweep();
    }
    if (entry.outcome === null) return this.#settlementOf(entry, signal);
    return entry.outcome.kind === "failed" ? Promise.reject(entry.outcome.error) : entry.outcome;
  }

  /** Resolves when the policy has decided on waiting work, or when `signal` has fired. */
  #settlementOf(entry: WaitingEntry, signal: EndSignal): Promise<Grant | Judgement> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#settle(entry, { kind: "aborted" });
        this.#sweep();
        // The held work may have waited for this.
        if (this.#wakesAtMs !== Number.POSITIVE_INFINITY) this.#wakeAfter(soonestMs);
      };
      entry.onSettled = (outcome) => {
        signal.removeEventListener("abort", onAbort);
        if (outcome.kind === "failed") reject(outcome.error);
        else resolve(outcome);
      };
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #insert(entry: WaitingEntry): void {
    let at = this.#waiting.length;
    if (this.policy.choosesModel)
      while (at > 0 && entry.programArrivalSeconds < (this.#waiting[at - 1]?.programArrivalSeconds ?? 0)) at -= 1;
    if (at === this.#waiting.length) this.#waiting.push(entry);
    else this.#waiting.splice(at, 0, entry);
  }

  #settle(entry: WaitingEntry, outcome: Grant | Judgement | Failed): void {
    if (entry.outcome !== null) return;
    this.#count(entry, -1);
    if (entry.state.kind === "queued" && outcome.kind !== "granted")
      this.policy.observe({ kind: "left", workId: entry.id, nowSeconds: this.#secondsAt(performance.now()) });
    entry.settle(outcome);
  }

  #count(entry: WaitingEntry, change: 1 | -1): void {
    if (entry.state.kind !== "queued") return;
    const line = this.lineOf(this.policy.modelOfStage(entry.stage));
    const { queued } = this.#options;
    queued.set(line, (queued.get(line) ?? 0) + change);
  }

  #sweep(): void {
    this.#waiting = this.#waiting.filter(({ outcome }) => outcome === null);
    if (this.#waiting.length === 0) this.#sleep();
  }

  #view(nowMs: number): EngineView {
    const { replicas, outage } = this.#options;
    return { nowSeconds: this.#secondsAt(nowMs), waiting: this.#waiting, replicas: replicas(nowMs), outage: outage() };
  }

  #secondsAt(nowMs: number): number {
    return (nowMs / 1000) * this.#options.timeScale;
  }
}

function grantOf(outcome: Grant | Judgement): Grant {
  if (outcome.kind === "accept" || outcome.kind === "escalate") throw new Error(`The policy judged queued work: ${outcome.kind}.`);
  return outcome;
}

/** Engines take whole numbers; after rounding, the lower of two keys is still not later. */
const wholeOf = (priority: number | undefined): number | null =>
  priority !== undefined && Math.abs(priority) < Number.MAX_SAFE_INTEGER ? Math.round(priority) : null;

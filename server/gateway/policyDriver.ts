import type { Action, Policy, WaitingWork } from "@/solver/policies/policy";
import type { Replica } from "./replica";

/** What became of work that was put to the policy. */
export type Grant =
  | {
      readonly kind: "granted";
      readonly replica: Replica;
      /** What the policy did without; null where nothing. */
      readonly degraded: string | null;
      /** For an engine's own queue, lower being earlier: the order's key, whole; null where the order prefers nobody. */
      readonly priority: number | null;
      readonly queuedSeconds: number;
      readonly dispatchedSeconds: number;
    }
  /** The engines of its model have left the configuration. */
  | { readonly kind: "withdrawn" }
  | { readonly kind: "aborted" };

export type Judgement = (Exclude<Action, { kind: "dispatch" }> & { readonly judgedSeconds: number }) | { readonly kind: "aborted" };

/** How an engine's work on a request ended. */
interface Released {
  readonly failed: boolean;
  /** On the clock of `performance.now()`, where the answer was passed on as it was written. */
  readonly firstTokenMs?: number | undefined;
}

/** Where a time is left out it is the moment at which the work comes to the driver. */
export type Work = Omit<WaitingWork, "state" | Times> & { readonly [Time in Times]?: number | undefined };
type Times = "programArrivalSeconds" | "queuedSinceSeconds";

/** Work as the policy sees it. Its members are written out: spreads cost twenty times as much, and more than the policy's decision. */
class Entry implements WaitingWork {
  readonly id: string;
  readonly programId: string;
  readonly stage: number;
  readonly programArrivalSeconds: number;
  readonly queuedSinceSeconds: number;
  readonly inputTokens: number;
  readonly predictedTokens: number | undefined;
  readonly predictedProgramTokens: number | undefined;
  readonly state: WaitingWork["state"];
  settle: (outcome: Grant | Judgement) => void = () => undefined;
  settled = false;

  constructor(work: Work, state: WaitingWork["state"], nowSeconds: number) {
    this.id = work.id;
    this.programId = work.programId;
    this.stage = work.stage;
    this.programArrivalSeconds = work.programArrivalSeconds ?? nowSeconds;
    this.queuedSinceSeconds = work.queuedSinceSeconds ?? nowSeconds;
    this.inputTokens = work.inputTokens;
    this.predictedTokens = work.predictedTokens;
    this.predictedProgramTokens = work.predictedProgramTokens;
    this.state = state;
  }
}

interface DriverOptions {
  readonly policy: Policy;
  /** The engines at this moment. */
  readonly replicas: (nowMs: number) => readonly Replica[];
  /** Engine seconds at a moment of `performance.now()`. */
  readonly secondsAt: (nowMs: number) => number;
  /** Work that waits for an engine, by model, over all drivers; this one keeps its share of it. */
  readonly queued: Map<string, number>;
  /** Called when an engine got room, with the moment; the queues that may use it are pumped, this driver's among them. */
  readonly onRoom: (nowMs: number) => void;
}

/**
 * Drives a policy in real time: keeps the work that waits, asks the policy whenever something it can act on has changed
 * (work came, was judged or was given back, an engine got room or came back), and carries out what it says. The clock is read once for
 * what happened and what is decided upon it, as the simulator's driver has it, so that a recorded run can be replayed there.
 */
export class PolicyDriver {
  readonly policy: Policy;
  readonly #options: DriverOptions;
  #waiting: Entry[] = [];
  /** Requests that began with this policy and are not answered yet. */
  active = 0;

  constructor(options: DriverOptions) {
    this.policy = options.policy;
    this.#options = options;
  }

  /** When the longest waiting work joined, in engine seconds; undefined when none waits. */
  get oldestSeconds(): number | undefined {
    return this.#waiting[0]?.queuedSinceSeconds;
  }

  /** Waits in the queue of the stage's model until the policy sends the work to an engine, which then counts it in flight. */
  async queue(work: Work, signal: AbortSignal): Promise<Grant> {
    const outcome = await this.#wait(work, { kind: "queued" }, signal);
    if (outcome.kind === "accept" || outcome.kind === "escalate") throw new Error(`The policy judged queued work: ${outcome.kind}.`);
    return outcome;
  }

  /** Puts a judged answer to the policy; `judgedScore` null when the judge gave none. */
  async judged(
    work: Work,
    { judgedScore, signal }: { readonly judgedScore: number | null; readonly signal: AbortSignal },
  ): Promise<Judgement> {
    const outcome = await this.#wait(work, { kind: "answered", judgedScore }, signal);
    if (outcome.kind === "granted" || outcome.kind === "withdrawn")
      throw new Error(`The policy dispatched answered work: ${outcome.kind}.`);
    return outcome;
  }

  /** Why the policy accepts an answer that it does not have judged. */
  accepted(work: Work): string {
    const nowMs = performance.now();
    const nowSeconds = this.#options.secondsAt(nowMs);
    const waiting = [new Entry(work, { kind: "answered", judgedScore: null }, nowSeconds)];
    const [action] = this.policy.decide({ nowSeconds, waiting, replicas: this.#options.replicas(nowMs) });
    if (action?.kind !== "accept") throw new Error(`The policy does not accept an answer that it does not have judged: ${action?.kind}.`);
    return action.reason;
  }

  /** The engine is done with the work, well or not. Returns when, in engine seconds. */
  release(workId: string, replica: Replica, { failed, firstTokenMs }: Released): number {
    const nowMs = performance.now();
    const nowSeconds = this.#options.secondsAt(nowMs);
    replica.end();
    const finished = { kind: "finished", workId, replicaId: replica.id, nowSeconds, failed } as const;
    const firstTokenSeconds = firstTokenMs === undefined ? undefined : this.#options.secondsAt(firstTokenMs);
    this.policy.observe(firstTokenSeconds === undefined ? finished : { ...finished, servedSeconds: nowSeconds - firstTokenSeconds });
    this.#options.onRoom(nowMs);
    return nowSeconds;
  }

  /** No request of the program will come any more. */
  end(programId: string): void {
    this.policy.observe({ kind: "ended", programId });
  }

  /** Gives queued work back whose model is no longer served. */
  withdraw(served: (model: string) => boolean): void {
    for (const entry of this.#waiting) {
      if (entry.state.kind === "queued" && !served(this.policy.modelOfStage(entry.stage))) this.#settle(entry, { kind: "withdrawn" });
    }
    this.#sweep();
  }

  /** Asks the policy and carries out its actions. */
  pump(nowMs: number): void {
    if (this.#waiting.length === 0) return;
    const replicas = this.#options.replicas(nowMs);
    const nowSeconds = this.#options.secondsAt(nowMs);
    const actions = this.policy.decide({ nowSeconds, waiting: this.#waiting, replicas });
    if (actions.length === 0) return;
    const byId = new Map(this.#waiting.map((entry) => [entry.id, entry]));
    for (const action of actions) {
      const entry = byId.get(action.workId);
      if (!entry) throw new Error(`The policy acted on ${action.workId}, which does not wait.`);
      if (action.kind !== "dispatch") {
        this.#settle(entry, { ...action, judgedSeconds: nowSeconds });
        continue;
      }
      const replica = replicas.find((candidate) => candidate.id === action.replicaId);
      if (!replica) throw new Error(`The policy chose ${action.replicaId}, which is not among the replicas.`);
      replica.begin();
      this.policy.observe({ kind: "dispatched", workId: entry.id, programId: entry.programId, replicaId: replica.id, nowSeconds });
      const times = { queuedSeconds: entry.queuedSinceSeconds, dispatchedSeconds: nowSeconds };
      this.#settle(entry, { kind: "granted", replica, degraded: action.degraded ?? null, priority: wholeOf(action.priority), ...times });
    }
    this.#sweep();
  }

  #wait(work: Work, state: WaitingWork["state"], signal: AbortSignal): Promise<Grant | Judgement> {
    if (signal.aborted) return Promise.resolve({ kind: "aborted" });
    const nowMs = performance.now();
    const entry = new Entry(work, state, this.#options.secondsAt(nowMs));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#settle(entry, { kind: "aborted" });
        this.#sweep();
      };
      entry.settle = (outcome) => {
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(entry);
      this.#count(entry, 1);
      try {
        if (state.kind === "queued") this.policy.observe({ kind: "queued", work: entry });
        this.pump(nowMs);
      } catch (error) {
        // A bug of the policy costs this work, and not its place in the queue for ever too.
        reject(error);
        onAbort();
      }
    });
  }

  #settle(entry: Entry, outcome: Grant | Judgement): void {
    if (entry.settled) return;
    entry.settled = true;
    this.#count(entry, -1);
    if (entry.state.kind === "queued" && outcome.kind !== "granted") this.policy.observe({ kind: "left", workId: entry.id });
    entry.settle(outcome);
  }

  #count(entry: Entry, change: 1 | -1): void {
    if (entry.state.kind !== "queued") return;
    const model = this.policy.modelOfStage(entry.stage);
    const { queued } = this.#options;
    queued.set(model, (queued.get(model) ?? 0) + change);
  }

  #sweep(): void {
    this.#waiting = this.#waiting.filter((entry) => !entry.settled);
  }
}

/** Engines take whole numbers; rounded, of two keys the lower is still no later. */
const wholeOf = (priority: number | undefined): number | null =>
  priority !== undefined && Math.abs(priority) < Number.MAX_SAFE_INTEGER ? Math.round(priority) : null;

import { createReplica, type OnReplicaEvent, type Replica } from "@/solver/engine/replica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { SlotHeap } from "@/solver/engine/slotHeap";
import type { Action, Policy, Reading, ReplicaView, WaitingWork } from "@/solver/policies/policy";
import type { ModelOutcomes, OutcomeTable, RequestSample } from "@/solver/workload/workload";
import type { ClusterOutcome, StageOutcome } from "./clusterOutcome";

/** One engine of the deployment. */
export interface ClusterReplica {
  readonly id: string;
  readonly model: string;
  readonly replica: ReplicaModel;
  /** Requests it may hold at once; the rest waits in the driver's queue, where the policy orders it. */
  readonly maxInFlight: number;
}

export interface ClusterSimulation {
  /** Used up: a policy keeps state of its own. */
  readonly policy: Policy;
  readonly replicas: readonly ClusterReplica[];
  readonly sample: RequestSample;
  readonly outcomes: OutcomeTable;
  /** Seconds one judgement takes. The judge itself is not modelled as a queue. */
  readonly judgeSeconds: number;
}

/**
 * A whole deployment on virtual time under the very policy object that the gateway runs: requests join stage 0, the policy
 * sends them to replicas, answers of judged stages wait for the judge, then the policy accepts or escalates them.
 * An answer is there once its client would see it, `requestSeconds` of the replica's model after its last step. Deterministic: at one
 * instant replicas come first (in the given order), then answers, then judgements, then arrivals, then one decision.
 *
 * @throws when the policy names a model that the outcome table lacks, or a replica that is not there or full.
 */
export function simulateCluster(simulation: ClusterSimulation): ClusterOutcome {
  return new ClusterRun(simulation).run();
}

/** A replica beside what the policy sees of it. */
interface Engine {
  readonly replica: Replica;
  readonly kvTokens: number;
  readonly view: { -readonly [field in keyof ReplicaView]: ReplicaView[field] };
  readonly onEvent: OnReplicaEvent;
}

/** The answers of one stage, in their order. */
interface Answered {
  readonly requests: number[];
  readonly latencies: number[];
  readonly ttfts: number[];
}

const ABSENT: Reading = { state: "absent" };

class ClusterRun {
  private readonly policy: Policy;
  private readonly sample: RequestSample;
  private readonly outcomes: OutcomeTable;
  private readonly judgeSeconds: number;
  private readonly engines: readonly Engine[];
  private readonly views: readonly ReplicaView[];
  private readonly engineOf: ReadonlyMap<string, number>;
  private readonly nextEvents: Float64Array;
  private readonly readsKv: boolean;

  private readonly ids: readonly string[];
  private readonly stage: Int8Array;
  private readonly joinedSeconds: Float64Array;
  private readonly firstTokenSeconds: Float64Array;
  private readonly endToEndSeconds: Float64Array;
  private readonly ttftSeconds: Float64Array;
  private readonly finalStage: Int8Array;
  private readonly quality: Float64Array;
  private readonly stages: { readonly answers: ModelOutcomes; readonly answered: Answered }[] = [];

  /** Requests that an engine has finished, by the time at which their answers are seen; ties in the order of finishing. */
  private readonly returning: SlotHeap;
  private returned = 0;
  /** The engine of each request that returns. */
  private readonly engineAt: Int32Array;
  private waiting: WaitingWork[] = [];
  /** Answers at the judge in the order of finishing: all judgements take the same time. */
  private readonly judging: { readonly request: number; readonly atSeconds: number }[] = [];
  private judged = 0;
  private arrived = 0;
  private lastFinish = 0;
  private undecided = false;

  constructor({ policy, replicas, sample, outcomes, judgeSeconds }: ClusterSimulation) {
    const count = sample.arrivalSeconds.length;
    this.policy = policy;
    this.sample = sample;
    this.outcomes = outcomes;
    this.judgeSeconds = judgeSeconds;
    this.readsKv = policy.needs.includes("kv-telemetry");
    this.engines = replicas.map((replica, index) => this.engine(replica, index));
    this.views = this.engines.map(({ view }) => view);
    this.engineOf = new Map(replicas.map((replica, index) => [replica.id, index]));
    this.nextEvents = new Float64Array(replicas.length).fill(Number.POSITIVE_INFINITY);
    this.ids = Array.from({ length: count }, (_, request) => String(request));
    this.stage = new Int8Array(count);
    this.returning = new SlotHeap(count);
    this.engineAt = new Int32Array(count);
    this.joinedSeconds = new Float64Array(count);
    this.firstTokenSeconds = new Float64Array(count);
    this.endToEndSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.ttftSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.finalStage = new Int8Array(count).fill(-1);
    this.quality = new Float64Array(count).fill(Number.NaN);
    this.enterStage(0);
  }

  run(): ClusterOutcome {
    for (let now = this.nextInstant(); now !== Number.POSITIVE_INFINITY; now = this.nextInstant()) {
      this.advanceReplicas(now);
      this.collectAnswers(now);
      this.collectJudgements(now);
      this.collectArrivals(now);
      while (this.undecided) this.decide(now);
    }
    return this.outcome();
  }

  private engine({ id, model, replica, maxInFlight }: ClusterReplica, index: number): Engine {
    return {
      replica: createReplica(replica),
      kvTokens: replica.kvTokens,
      view: { id, model, inFlight: 0, maxInFlight, accepting: true, kvUse: ABSENT },
      onEvent: (kind, request, seconds) => {
        if (kind !== "first-token" && kind !== "finished") return;
        const seenSeconds = seconds + replica.requestSeconds(this.outcomes.inputTokens[this.promptOf(request)] ?? 0);
        if (kind === "first-token") {
          this.firstTokenSeconds[request] = seenSeconds;
        } else {
          this.engineAt[request] = index;
          this.returning.push(request, seenSeconds, this.returned++);
        }
      },
    };
  }

  private nextInstant(): number {
    let next = this.sample.arrivalSeconds[this.arrived] ?? Number.POSITIVE_INFINITY;
    next = Math.min(next, this.returning.leastKey, this.judging[this.judged]?.atSeconds ?? Number.POSITIVE_INFINITY);
    for (const seconds of this.nextEvents) if (seconds < next) next = seconds;
    return next;
  }

  private advanceReplicas(now: number): void {
    for (const [index, { replica, onEvent }] of this.engines.entries()) {
      if ((this.nextEvents[index] ?? 0) > now) continue;
      replica.advanceTo(now, onEvent);
      this.nextEvents[index] = replica.nextEventSeconds();
    }
  }

  private collectAnswers(now: number): void {
    while (this.returning.leastKey <= now) {
      const request = this.returning.pop();
      this.answered(request, this.engineAt[request] ?? 0, now);
    }
  }

  private collectJudgements(now: number): void {
    for (let next = this.judging[this.judged]; next !== undefined && next.atSeconds <= now; next = this.judging[this.judged]) {
      this.judged++;
      const answers = this.stages[this.stage[next.request] ?? 0]?.answers;
      this.queue(next.request, now, { kind: "answered", judgedScore: answers?.judged[this.promptOf(next.request)] ?? null });
    }
  }

  private collectArrivals(now: number): void {
    while ((this.sample.arrivalSeconds[this.arrived] ?? Number.POSITIVE_INFINITY) <= now) {
      this.join(this.arrived++, now);
    }
  }

  /** Puts a request into its stage's queue. */
  private join(request: number, now: number): void {
    this.joinedSeconds[request] = now;
    this.queue(request, now, { kind: "queued" });
  }

  private queue(request: number, now: number, state: WaitingWork["state"]): void {
    const id = this.ids[request] ?? "";
    this.waiting.push({
      id,
      programId: id,
      stage: this.stage[request] ?? 0,
      programArrivalSeconds: this.sample.arrivalSeconds[request] ?? 0,
      queuedSinceSeconds: now,
      inputTokens: this.outcomes.inputTokens[this.promptOf(request)] ?? 0,
      state,
    });
    this.undecided = true;
  }

  private answered(request: number, engineIndex: number, now: number): void {
    const stage = this.stage[request] ?? 0;
    const joined = this.joinedSeconds[request] ?? 0;
    const answered = this.stages[stage]?.answered;
    answered?.requests.push(request);
    answered?.latencies.push(now - joined);
    answered?.ttfts.push((this.firstTokenSeconds[request] ?? 0) - joined);
    this.release(request, engineIndex, { now, failed: false });
    if (this.policy.judges(stage)) this.judging.push({ request, atSeconds: now + this.judgeSeconds });
    else this.queue(request, now, { kind: "answered", judgedScore: null });
  }

  /** Frees the request's place on a replica and tells the policy. */
  private release(request: number, engineIndex: number, { now, failed }: { readonly now: number; readonly failed: boolean }): void {
    const engine = this.engines[engineIndex];
    if (engine === undefined) return;
    engine.view.inFlight--;
    this.lastFinish = now;
    this.policy.observe({ kind: "finished", workId: this.ids[request] ?? "", replicaId: engine.view.id, nowSeconds: now, failed });
    this.undecided ||= this.waiting.length > 0;
  }

  private decide(now: number): void {
    this.undecided = false;
    if (this.readsKv) {
      for (const { view, replica, kvTokens } of this.engines) {
        view.kvUse = { state: "fresh", value: replica.kvTokensUsed / kvTokens, ageSeconds: 0 };
      }
    }
    const actions = this.policy.decide({ nowSeconds: now, waiting: this.waiting, replicas: this.views });
    if (actions.length === 0) return;
    this.remove(actions);
    for (const action of actions) this.apply(action, now);
  }

  /** Takes work off the waiting list. Most decisions are about one request, near the head of a list that may be thousands long. */
  private remove(actions: readonly Action[]): void {
    const [first] = actions;
    if (actions.length === 1) {
      this.waiting.splice(
        this.waiting.findIndex((work) => work.id === first?.workId),
        1,
      );
      return;
    }
    const acted = new Set(actions.map((action) => action.workId));
    this.waiting = this.waiting.filter((work) => !acted.has(work.id));
  }

  private apply(action: Action, now: number): void {
    const request = Number(action.workId);
    switch (action.kind) {
      case "dispatch":
        this.dispatch(request, action.replicaId, now);
        break;
      case "accept":
        this.accept(request, now);
        break;
      case "escalate":
        this.stage[request] = action.stage;
        this.enterStage(action.stage);
        this.join(request, now);
        break;
    }
  }

  private dispatch(request: number, replicaId: string, now: number): void {
    const index = this.engineOf.get(replicaId);
    const engine = index === undefined ? undefined : this.engines[index];
    if (index === undefined || engine === undefined) throw new Error(`The policy chose the replica ${replicaId}, which is not there`);
    if (engine.view.inFlight >= engine.view.maxInFlight) throw new Error(`The policy chose the replica ${replicaId}, which is full`);
    const prompt = this.promptOf(request);
    engine.view.inFlight++;
    this.policy.observe({ kind: "dispatched", workId: this.ids[request] ?? "", replicaId, nowSeconds: now });
    const fits = engine.replica.enqueue(request, {
      atSeconds: now,
      inputTokens: this.outcomes.inputTokens[prompt] ?? 0,
      outputTokens: this.stages[this.stage[request] ?? 0]?.answers.outputTokens[prompt] ?? 0,
    });
    // Too long for the replica's cache: an engine answers that with an error, and the request stays unserved.
    if (!fits) this.release(request, index, { now, failed: true });
    this.nextEvents[index] = engine.replica.nextEventSeconds();
  }

  private accept(request: number, now: number): void {
    const stage = this.stage[request] ?? 0;
    const arrival = this.sample.arrivalSeconds[request] ?? 0;
    this.finalStage[request] = stage;
    this.endToEndSeconds[request] = now - arrival;
    this.ttftSeconds[request] = (this.policy.judges(stage) ? now : (this.firstTokenSeconds[request] ?? now)) - arrival;
    this.quality[request] = this.stages[stage]?.answers.label[this.promptOf(request)] ?? Number.NaN;
    this.lastFinish = now;
  }

  private promptOf(request: number): number {
    return this.sample.prompt[request] ?? 0;
  }

  private enterStage(stage: number): void {
    while (this.stages.length <= stage) {
      const model = this.policy.modelOfStage(this.stages.length);
      const answers = this.outcomes.models.find((one) => one.model === model);
      if (answers === undefined) throw new Error(`The outcome table has no answers of ${model}`);
      this.stages.push({ answers, answered: { requests: [], latencies: [], ttfts: [] } });
    }
  }

  private outcome(): ClusterOutcome {
    const { endToEndSeconds, ttftSeconds, finalStage, quality } = this;
    const horizonSeconds = this.lastFinish - (this.sample.arrivalSeconds[0] ?? 0);
    return {
      endToEndSeconds,
      ttftSeconds,
      finalStage,
      quality,
      stages: this.stages.map(({ answers, answered }) => this.stageOutcome(answers.model, answered, horizonSeconds)),
      horizonSeconds,
      unserved: finalStage.reduce((sum, stage) => sum + (stage === -1 ? 1 : 0), 0),
      preemptions: this.engines.reduce((sum, { replica }) => sum + replica.preemptions, 0),
    };
  }

  private stageOutcome(model: string, { requests, latencies, ttfts }: Answered, horizonSeconds: number): StageOutcome {
    const own = this.engines.filter(({ view }) => view.model === model);
    const busySeconds = own.reduce((sum, { replica }) => sum + replica.busySeconds, 0);
    return {
      model,
      requests: requests.length,
      share: requests.length / this.ids.length,
      request: Int32Array.from(requests),
      latencySeconds: Float64Array.from(latencies),
      ttftSeconds: Float64Array.from(ttfts),
      busyShare: busySeconds / (horizonSeconds * own.length),
    };
  }
}

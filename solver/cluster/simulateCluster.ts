import type { Action, Policy, WaitingWork } from "@/solver/policies/policy";
import type { OutcomeTable, RequestSample } from "@/solver/workload/workload";
import { ClusterEngines, type ClusterReplica } from "./clusterEngines";
import type { ClusterOutcome } from "./clusterOutcome";
import { engineJudge, fixedJudge, type JudgeEngines, type JudgeQueue } from "./judgeQueue";
import { StageAnswers } from "./stageAnswers";
import { WaitingList } from "./waitingList";

export interface ClusterSimulation {
  /** Used up: a policy keeps state of its own. */
  readonly policy: Policy;
  readonly replicas: readonly ClusterReplica[];
  readonly sample: RequestSample;
  /** With router scores, where the policy starts requests by them. */
  readonly outcomes: OutcomeTable;
  /** Seconds one judgement takes where the judge has no replicas of its own. */
  readonly judgeSeconds: number;
  /** The judge's own replicas, at which answers queue. */
  readonly judgeEngines?: JudgeEngines;
  /** Output tokens expected of a request at a stage. Left out: nothing predicts them, and policies go by what they have. */
  readonly predictTokens?: (request: number, stage: number) => number;
}

/**
 * A whole deployment on virtual time under the very policy object that the gateway runs: requests join the stage it starts them at, the
 * policy sends them to replicas, answers of judged stages wait for the judge, then the policy accepts or escalates them.
 * An answer is there once its client would see it, `requestSeconds` of the replica's model after its last step. Deterministic: at one
 * instant replicas come first (in the given order), then answers, then judgements, then arrivals, then one decision.
 *
 * @throws when the policy names a model that the outcome table lacks, or a replica that is not there or full.
 */
export function simulateCluster(simulation: ClusterSimulation): ClusterOutcome {
  return new ClusterRun(simulation).run();
}

class ClusterRun {
  private readonly policy: Policy;
  private readonly sample: RequestSample;
  private readonly outcomes: OutcomeTable;
  private readonly judge: JudgeQueue;
  private readonly engines: ClusterEngines;
  private readonly waiting: WaitingList;
  private readonly readsKv: boolean;
  private readonly predictTokens: ClusterSimulation["predictTokens"];

  private readonly ids: readonly string[];
  private readonly inputTokens: Int32Array;
  private readonly stage: Int8Array;
  private readonly joinedSeconds: Float64Array;
  private readonly endToEndSeconds: Float64Array;
  private readonly ttftSeconds: Float64Array;
  private readonly finalStage: Int8Array;
  private readonly quality: Float64Array;
  private readonly stages: StageAnswers[] = [];

  private arrived = 0;
  private lastFinish = 0;
  private undecided = false;

  constructor({ policy, replicas, sample, outcomes, judgeSeconds, judgeEngines, predictTokens }: ClusterSimulation) {
    const count = sample.arrivalSeconds.length;
    this.policy = policy;
    this.sample = sample;
    this.outcomes = outcomes;
    this.judge = judgeEngines === undefined ? fixedJudge(judgeSeconds) : engineJudge(judgeEngines, count);
    this.readsKv = policy.needs.includes("kv-telemetry");
    this.predictTokens = predictTokens;
    this.waiting = new WaitingList(policy);
    this.ids = Array.from({ length: count }, (_, request) => String(request));
    this.inputTokens = sample.prompt.map((prompt) => outcomes.inputTokens[prompt] ?? 0);
    this.engines = new ClusterEngines(replicas, this.inputTokens);
    this.stage = new Int8Array(count);
    this.joinedSeconds = new Float64Array(count);
    this.endToEndSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.ttftSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.finalStage = new Int8Array(count).fill(-1);
    this.quality = new Float64Array(count).fill(Number.NaN);
    this.answersOf(0);
  }

  run(): ClusterOutcome {
    for (let now = this.nextInstant(); now !== Number.POSITIVE_INFINITY; now = this.nextInstant()) {
      this.engines.advanceTo(now);
      for (let request = this.engines.takeAnswered(now); request !== null; request = this.engines.takeAnswered(now)) {
        this.answered(request, now);
      }
      this.collectJudgements(now);
      this.collectArrivals(now);
      while (this.undecided) this.decide(now);
    }
    return this.outcome();
  }

  private nextInstant(): number {
    const arrival = this.sample.arrivalSeconds[this.arrived] ?? Number.POSITIVE_INFINITY;
    return Math.min(arrival, this.judge.nextSeconds(), this.engines.nextSeconds());
  }

  private collectJudgements(now: number): void {
    this.judge.advanceTo(now);
    for (let request = this.judge.takeJudged(now); request !== null; request = this.judge.takeJudged(now)) {
      const { outcomes } = this.answersOf(this.stage[request] ?? 0);
      this.queue(request, now, { kind: "answered", judgedScore: outcomes.judged[this.promptOf(request)] ?? null });
    }
  }

  private collectArrivals(now: number): void {
    while ((this.sample.arrivalSeconds[this.arrived] ?? Number.POSITIVE_INFINITY) <= now) {
      const request = this.arrived++;
      const prompt = this.promptOf(request);
      const columns = this.outcomes.models;
      const { stage } = this.policy.start({
        programId: this.ids[request] ?? "",
        inputTokens: this.inputTokens[request] ?? 0,
        routerScores: (model) => columns.find((own) => own.model === model)?.routerScore?.[prompt],
        replicas: this.engines.views,
        judgeResting: false,
      });
      this.join(request, stage, now);
    }
  }

  /** Puts a request into a stage's queue. */
  private join(request: number, stage: number, now: number): void {
    this.answersOf(stage);
    this.stage[request] = stage;
    this.joinedSeconds[request] = now;
    this.queue(request, now, { kind: "queued" });
  }

  private queue(request: number, now: number, state: WaitingWork["state"]): void {
    const id = this.ids[request] ?? "";
    const stage = this.stage[request] ?? 0;
    const predictedTokens = this.predictTokens?.(request, stage);
    const work: WaitingWork = {
      id,
      programId: id,
      stage,
      programArrivalSeconds: this.sample.arrivalSeconds[request] ?? 0,
      queuedSinceSeconds: now,
      inputTokens: this.inputTokens[request] ?? 0,
      ...(predictedTokens !== undefined && { predictedTokens }),
      state,
    };
    this.waiting.add(work);
    if (state.kind === "queued") this.policy.observe({ kind: "queued", work });
    this.undecided = true;
  }

  private answered(request: number, now: number): void {
    const stage = this.stage[request] ?? 0;
    const joined = this.joinedSeconds[request] ?? 0;
    const firstToken = this.engines.firstTokenSeconds[request] ?? 0;
    this.answersOf(stage).note(request, { latencySeconds: now - joined, ttftSeconds: firstToken - joined });
    this.release(request, { now, failed: false });
    if (!this.policy.judges(stage)) this.queue(request, now, { kind: "answered", judgedScore: null });
    else {
      const outputTokens = this.answersOf(stage).outcomes.outputTokens[this.promptOf(request)] ?? 0;
      this.judge.judge(request, { nowSeconds: now, inputTokens: this.inputTokens[request] ?? 0, outputTokens });
    }
  }

  /** Frees the request's place on a replica and tells the policy. */
  private release(request: number, { now, failed }: { readonly now: number; readonly failed: boolean }): void {
    const replicaId = this.engines.release(request);
    this.lastFinish = now;
    this.policy.observe({ kind: "finished", workId: this.ids[request] ?? "", replicaId, nowSeconds: now, failed });
    this.undecided ||= this.waiting.size > 0;
  }

  private decide(now: number): void {
    this.undecided = false;
    if (this.readsKv) this.engines.readKvUse();
    const replicas = this.engines.views;
    const actions = this.policy.decide({ nowSeconds: now, waiting: this.waiting.shown(replicas), replicas });
    if (actions.length === 0) return;
    this.waiting.remove(actions);
    for (const action of actions) this.apply(action, now);
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
        this.join(request, action.stage, now);
        break;
    }
  }

  private dispatch(request: number, replicaId: string, now: number): void {
    const { outcomes } = this.answersOf(this.stage[request] ?? 0);
    const outputTokens = outcomes.outputTokens[this.promptOf(request)] ?? 0;
    const fits = this.engines.dispatch(request, replicaId, { atSeconds: now, outputTokens });
    const id = this.ids[request] ?? "";
    this.policy.observe({ kind: "dispatched", workId: id, programId: id, replicaId, nowSeconds: now });
    if (fits) return;
    // A request too long for the replica's cache stays unserved.
    this.release(request, { now, failed: true });
    this.policy.observe({ kind: "ended", programId: id });
  }

  private accept(request: number, now: number): void {
    const stage = this.stage[request] ?? 0;
    const arrival = this.sample.arrivalSeconds[request] ?? 0;
    this.finalStage[request] = stage;
    this.endToEndSeconds[request] = now - arrival;
    this.ttftSeconds[request] = (this.policy.judges(stage) ? now : (this.engines.firstTokenSeconds[request] ?? now)) - arrival;
    this.quality[request] = this.answersOf(stage).outcomes.label[this.promptOf(request)] ?? Number.NaN;
    this.lastFinish = now;
    this.policy.observe({ kind: "ended", programId: this.ids[request] ?? "" });
  }

  private promptOf(request: number): number {
    return this.sample.prompt[request] ?? 0;
  }

  /** The answers of a stage; it and those before it come into being when it is first asked for. */
  private answersOf(stage: number): StageAnswers {
    while (this.stages.length <= stage) {
      const model = this.policy.modelOfStage(this.stages.length);
      const outcomes = this.outcomes.models.find((one) => one.model === model);
      if (outcomes === undefined) throw new Error(`The outcome table has no answers of ${model}`);
      this.stages.push(new StageAnswers(outcomes));
    }
    return this.stages[stage] as StageAnswers;
  }

  private outcome(): ClusterOutcome {
    const { endToEndSeconds, ttftSeconds, finalStage, quality } = this;
    const horizonSeconds = this.lastFinish - (this.sample.arrivalSeconds[0] ?? 0);
    return {
      endToEndSeconds,
      ttftSeconds,
      finalStage,
      quality,
      stages: this.stages.map((stage) => {
        const busyShare = this.engines.busyShare(stage.outcomes.model, horizonSeconds);
        return stage.outcome({ sampleRequests: this.ids.length, busyShare });
      }),
      horizonSeconds,
      unserved: finalStage.reduce((sum, stage) => sum + (stage === -1 ? 1 : 0), 0),
      preemptions: this.engines.preemptions(),
      judgeMeanSeconds: this.judge.meanSeconds(),
    };
  }
}

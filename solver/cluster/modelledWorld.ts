import type { JudgeVariation } from "@/solver/judging/judgeTime";
import type { Outage, Policy, ReplicaView, Start, StartingRequest } from "@/solver/policies/core/policy";
import type { StageGate, StageGates } from "@/solver/stageGates/stageGate";
import type { OutcomeTable, RequestSample } from "@/solver/workload/workload";
import { type CallLearning, callLearning } from "./callLearning";
import { ClusterEngines, type ClusterReplica } from "./clusterEngines";
import type { ClusterOutcome } from "./clusterOutcome";
import type { ClusterWorld, Sending } from "./clusterWorld";
import { callsPerRequest, FurtherAnswers } from "./furtherAnswers";
import { engineJudge, fixedJudge, type JudgeEngines, type JudgeQueue, varyingJudge } from "./judgeQueue";
import { StageAnswers } from "./stageAnswers";

export interface ClusterSimulation {
  /** Consumed by the run: a policy has its own state. */
  readonly policy: Policy;
  readonly replicas: readonly ClusterReplica[];
  readonly sample: RequestSample;
  /** With router scores, where the policy starts requests by them. */
  readonly outcomes: OutcomeTable;
  /** Seconds per judgement where the judge has no separate replicas. */
  readonly judgeSeconds: number;
  /** How that time varies about its mean; left out: it does not. */
  readonly judgeVariation?: JudgeVariation | undefined;
  /** The judge's own replicas, at which answers queue. */
  readonly judgeEngines?: JudgeEngines;
  /** Gates in the place of the judge alone, by the model of the stage; left out: the judge scores all answers. */
  readonly gates?: StageGates;
  /** Replicas of models that answer for gates alone, which the policy does not see. */
  readonly peerReplicas?: readonly ClusterReplica[];
  /** Expected output tokens of a request at a stage. Left out: no prediction, and policies use the other inputs. */
  readonly predictTokens?: (request: number, stage: number) => number;
  /** Models that have no engines during the whole run; left out: all have. */
  readonly outage?: Outage;
}

function judgeQueueOf({ judgeSeconds, judgeVariation, judgeEngines }: ClusterSimulation, requests: number): JudgeQueue {
  if (judgeEngines !== undefined) return engineJudge(judgeEngines, requests);
  return judgeVariation === undefined ? fixedJudge(judgeSeconds) : varyingJudge(judgeSeconds, judgeVariation, requests);
}

/** Input tokens of the requests, and after them of so many further calls of each. */
function repeated(inputTokens: Int32Array, calls: number): Int32Array {
  const all = new Int32Array(inputTokens.length * (1 + calls));
  all.set(inputTokens);
  for (let slot = inputTokens.length; slot < all.length; slot += 1)
    all[slot] = inputTokens[Math.floor((slot - inputTokens.length) / calls)] ?? 0;
  return all;
}

const comparesAnswers = ({ samples, peers }: StageGate): boolean => samples + peers.length > 0;

/** A sample of requests on modelled engines, with answers and scores from a table; records the outcome of each. */
export class ModelledWorld implements ClusterWorld {
  readonly programIds: readonly string[];
  readonly arrivalSeconds: Float64Array;
  readonly inputTokens: Int32Array;
  readonly replicas: readonly ReplicaView[];
  readonly outage: Outage | undefined;
  private readonly policy: Policy;
  /** Whether the answer of the stage that each request entered last was scored: its client sees nothing before that. */
  private readonly isScored: Uint8Array;
  private readonly sample: RequestSample;
  private readonly outcomes: OutcomeTable;
  private readonly predictTokens: ClusterSimulation["predictTokens"];
  private readonly judgeQueue: JudgeQueue;
  private readonly gates: StageGates | undefined;
  /** null: no gate compares with further answers. */
  private readonly further: FurtherAnswers | null;
  /** Requests whose answers have a score without the judge. */
  private readonly scored: number[] = [];
  private readonly engines: ClusterEngines;
  /** Each visit to a stage is a call of its request, a program without agent names. null: no learner of workflows. */
  private readonly learning: CallLearning | null;
  readonly forecasts: CallLearning | null;
  readonly beginGate: ClusterWorld["beginGate"];

  private readonly stage: Int8Array;
  private readonly joinedSeconds: Float64Array;
  private readonly endToEndSeconds: Float64Array;
  private readonly ttftSeconds: Float64Array;
  private readonly finalStage: Int8Array;
  private readonly quality: Float64Array;
  private readonly stages: StageAnswers[] = [];

  private arrived = 0;
  /** Requests escalated at this instant. */
  private readonly sentOn: number[] = [];
  private lastFinish = 0;

  constructor(simulation: ClusterSimulation) {
    const { policy, replicas, sample, outcomes, predictTokens, outage, gates, peerReplicas = [] } = simulation;
    const count = sample.arrivalSeconds.length;
    this.policy = policy;
    this.outage = outage;
    this.sample = sample;
    this.outcomes = outcomes;
    this.predictTokens = predictTokens;
    this.judgeQueue = judgeQueueOf(simulation, count);
    this.programIds = Array.from({ length: count }, (_, request) => String(request));
    this.arrivalSeconds = sample.arrivalSeconds;
    this.inputTokens = sample.prompt.map((prompt) => outcomes.inputTokens[prompt] ?? 0);
    const calls = gates === undefined ? 0 : callsPerRequest(gates);
    const { promptBlocks } = outcomes;
    // After the requests come the further answers, to the same prompts.
    const requestOf = (slot: number): number => (slot < count ? slot : Math.floor((slot - count) / calls));
    this.engines = new ClusterEngines(
      [...replicas, ...peerReplicas],
      calls === 0 ? this.inputTokens : repeated(this.inputTokens, calls),
      promptBlocks && { promptBlocks: (slot) => promptBlocks[this.promptOf(requestOf(slot))] },
    );
    this.replicas = this.engines.views.slice(0, replicas.length);
    this.gates = gates;
    this.further =
      gates === undefined || calls === 0 ? null : new FurtherAnswers({ gates, outcomes, requests: count, engines: this.engines });
    const { further } = this;
    this.beginGate =
      further === null
        ? undefined
        : (request, now) => further.start(request, { model: this.answersAt(request).outcomes.model, prompt: this.promptOf(request), now });
    this.learning = callLearning(policy);
    this.forecasts = this.learning;
    this.stage = new Int8Array(count);
    this.isScored = new Uint8Array(count);
    this.joinedSeconds = new Float64Array(count);
    this.endToEndSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.ttftSeconds = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.finalStage = new Int8Array(count).fill(-1);
    this.quality = new Float64Array(count).fill(Number.NaN);
    this.answersOf(0);
  }

  nextSeconds(): number {
    return Math.min(this.nextArrival(), this.judgeQueue.nextSeconds(), this.engines.nextSeconds());
  }

  advanceTo(now: number): void {
    this.engines.advanceTo(now);
  }

  takeAnswered(now: number): number | null {
    let request = this.engines.takeAnswered(now);
    while (request !== null && this.further?.take(request)) request = this.engines.takeAnswered(now);
    if (request === null) {
      // All answers of this instant have been sent to the judge.
      this.judgeQueue.advanceTo(now);
      return null;
    }
    const joined = this.joinedSeconds[request] ?? 0;
    const firstToken = this.engines.firstTokenSeconds[request] ?? 0;
    this.answersAt(request).note(request, { latencySeconds: now - joined, ttftSeconds: firstToken - joined });
    this.learning?.finished(request, {
      nowSeconds: now,
      inputTokens: this.inputTokens[request] ?? 0,
      outputTokens: this.outputTokensOf(request),
    });
    return request;
  }

  takeJudged(now: number): number | null {
    return this.scored.shift() ?? this.further?.takeSettled() ?? this.judgeQueue.takeJudged(now);
  }

  hasFreed(): boolean {
    return this.further?.takeFreed() === true;
  }

  takeJoining(now: number): number | null {
    if (this.sentOn.length > 0) return this.sentOn.shift() ?? null;
    return this.nextArrival() <= now ? this.arrived++ : null;
  }

  starting(request: number): StartingRequest {
    const prompt = this.promptOf(request);
    return {
      programId: this.programIds[request] ?? "",
      inputTokens: this.inputTokens[request] ?? 0,
      routerScores: (model) => this.outcomes.models.find((own) => own.model === model)?.routerScore?.[prompt],
      replicas: this.replicas,
      judgeResting: false,
      ...(this.outage && { outage: this.outage }),
    };
  }

  predictions(request: number, stage: number) {
    const { promptBlocks } = this.outcomes;
    return {
      predictedTokens: this.predictTokens?.(request, stage),
      forecast: this.learning?.forecast(request),
      ...(promptBlocks && { promptBlocks: promptBlocks[this.promptOf(request)] }),
    };
  }

  readMemory(now: number): void {
    this.engines.readMemory(now);
  }

  joined(request: number, { stage }: Start, now: number): void {
    this.enter(request, stage);
    this.joinedSeconds[request] = now;
    const { model } = this.answersAt(request).outcomes;
    this.further?.queue(request, model);
    const identity = { programId: this.programIds[request] ?? "", application: "", agent: "", upstream: [] };
    this.learning?.joined(request, identity, { model, arrivedSeconds: now, nowSeconds: now });
  }

  dispatch(request: number, { replicaId, priority, stage }: Sending, now: number): boolean {
    if (stage !== undefined) this.enter(request, stage);
    this.learning?.dispatched(request, this.answersAt(request).outcomes.model, now);
    const fits = this.engines.dispatch(request, replicaId, { atSeconds: now, outputTokens: this.outputTokensOf(request), priority });
    if (!fits) this.refuse(request, now);
    else this.further?.queue(request, undefined);
    return fits;
  }

  servedSeconds(request: number, now: number): number | undefined {
    return this.engines.servedSeconds(request, now);
  }

  release(request: number, now: number): string {
    this.lastFinish = now;
    return this.engines.release(request);
  }

  judge(request: number, now: number): void {
    this.isScored[request] = 1;
    const gate = this.gates?.get(this.answersAt(request).outcomes.model);
    if (gate !== undefined && gate.judged?.[this.promptOf(request)] !== 1) {
      if (comparesAnswers(gate)) this.further?.read(request, now);
      else this.scored.push(request);
      return;
    }
    const outputTokens = this.outputTokensOf(request);
    this.judgeQueue.judge(request, { nowSeconds: now, inputTokens: this.inputTokens[request] ?? 0, outputTokens });
  }

  judgedScore(request: number): number | null {
    const { model, judged } = this.answersAt(request).outcomes;
    const gate = this.gates?.get(model);
    const prompt = this.promptOf(request);
    if (gate === undefined) return judged[prompt] ?? null;
    return comparesAnswers(gate) && this.further?.hasAny(request) !== true ? null : (gate.scores[prompt] ?? null);
  }

  accept(request: number, _reason: string, now: number): void {
    const stage = this.stage[request] ?? 0;
    const arrival = this.arrivalSeconds[request] ?? 0;
    this.finalStage[request] = stage;
    this.endToEndSeconds[request] = now - arrival;
    this.ttftSeconds[request] = (this.isScored[request] === 1 ? now : (this.engines.firstTokenSeconds[request] ?? now)) - arrival;
    this.learning?.ended(this.programIds[request] ?? "", now);
    this.quality[request] = this.answersAt(request).outcomes.label[this.promptOf(request)] ?? Number.NaN;
    this.lastFinish = now;
  }

  refuse(request: number, now: number): void {
    this.further?.queue(request, undefined);
    this.learning?.finished(request, { nowSeconds: now, inputTokens: this.inputTokens[request] ?? 0, outputTokens: null });
    this.learning?.ended(this.programIds[request] ?? "", now);
  }

  endsProgram(): boolean {
    return true;
  }

  sendOn(request: number): void {
    this.sentOn.push(request);
  }

  /** The outcomes of the requests so far. */
  outcome(): ClusterOutcome {
    const { endToEndSeconds, ttftSeconds, finalStage, quality } = this;
    const horizonSeconds = this.lastFinish - (this.arrivalSeconds[0] ?? 0);
    return {
      endToEndSeconds,
      ttftSeconds,
      finalStage,
      quality,
      stages: this.stages.map((stage) => {
        const { model } = stage.outcomes;
        const busyShare = this.engines.busyShare(model, horizonSeconds);
        const prefixHitShare = this.engines.prefixHitShare(model);
        const outcome = stage.outcome({ sampleRequests: this.programIds.length, busyShare });
        return prefixHitShare === null ? outcome : { ...outcome, prefixHitShare };
      }),
      horizonSeconds,
      unserved: finalStage.reduce((sum, stage) => sum + (stage === -1 ? 1 : 0), 0),
      preemptions: this.engines.preemptions(),
      judgeMeanSeconds: this.judgeQueue.meanSeconds(),
    };
  }

  private enter(request: number, stage: number): void {
    this.answersOf(stage);
    this.isScored[request] = 0;
    this.stage[request] = stage;
  }

  private nextArrival(): number {
    return this.arrivalSeconds[this.arrived] ?? Number.POSITIVE_INFINITY;
  }

  private promptOf(request: number): number {
    return this.sample.prompt[request] ?? 0;
  }

  /** Output tokens of the answer at the request's stage. */
  private outputTokensOf(request: number): number {
    return this.answersAt(request).outcomes.outputTokens[this.promptOf(request)] ?? 0;
  }

  private answersAt(request: number): StageAnswers {
    return this.answersOf(this.stage[request] ?? 0);
  }

  /** The answers of a stage; they and those of earlier stages are created on first use. */
  private answersOf(stage: number): StageAnswers {
    while (this.stages.length <= stage) {
      const model = this.policy.modelOfStage(this.stages.length);
      const outcomes = this.outcomes.models.find((one) => one.model === model);
      if (outcomes === undefined) throw new Error(`The outcome table has no answers of ${model}`);
      this.stages.push(new StageAnswers(outcomes));
    }
    return this.stages[stage] as StageAnswers;
  }
}

import { SlotHeap } from "@/solver/collections/slotHeap";
import type { Policy, ReplicaView, Start, StartingRequest, WorkflowCall } from "@/solver/policies/core/policy";
import { programQuality } from "@/solver/workflow/programQuality";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import { agentNames } from "@/solver/workflow/workflowDocuments";
import { AnswerScores, type ProgramScores } from "./answerScores";
import { type CallEnd, type CallLearning, callLearning, identityOf } from "./callLearning";
import { ClusterEngines } from "./clusterEngines";
import type { ChangingForecasts, ClusterWorld, Searched, Sending } from "./clusterWorld";
import { ConfigurationSearches } from "./configurationSearches";
import { ProgramGates } from "./programGates";
import type { ProgramOutcome } from "./programOutcome";
import { delaysOf, type ProgramDelays, type ProgramSimulation } from "./programSimulation";
import { recordedScores } from "./recordedScores";
import { RecordedTimes } from "./recordedTimes";
import { recordedForecasts } from "./recordedWorld";
import { RequestGraph } from "./requestGraph";

/** Programs on modelled engines: a request joins when all its inputs are answered, with those answers in its prompt. */
export class ProgramWorld implements ClusterWorld {
  readonly programIds: readonly string[];
  readonly arrivalSeconds: Float64Array;
  readonly inputTokens: Int32Array;
  readonly replicas: readonly ReplicaView[];
  private readonly policy: Policy;
  private readonly sample: ProgramSample;
  private readonly predicted: ProgramPredictions;
  private readonly scores: ProgramScores;
  /** undefined: joins, answers, scores and forecasts are modelled. */
  private readonly times: RecordedTimes | undefined;
  private readonly engines: ClusterEngines;
  private readonly graph: RequestGraph;
  private readonly gates: ProgramGates;
  /** Names by workflow and stage, as its client would give them. */
  private readonly calls: readonly (readonly WorkflowCall[])[];
  private readonly readsConfigurations: boolean;
  /** null: no learner of workflows. */
  private readonly learning: CallLearning | null;
  readonly forecasts: ChangingForecasts | null;
  private readonly telemetrySeconds: number;
  private readonly delays: ProgramDelays;

  /** Ready requests, by when they join a queue; ties in the order of the sample, those that waited for answers last. */
  private readonly joining: SlotHeap;
  private readonly searches: ConfigurationSearches;
  private became = 0;
  private readonly modelOfStage: number[] = [];
  private readonly stage: Int8Array;
  private readonly model: Int8Array;
  private readonly readySeconds: Float64Array;
  private readonly answerSeconds: Float64Array;
  private readonly endToEndSeconds: Float64Array;
  /** Requests of each program that are ready and have not ended. */
  private readonly open: Int32Array;
  /** Requests of each program without an answer. */
  private readonly unanswered: Int32Array;
  private readonly outputTokens: Int32Array;
  private lastAnswer = 0;
  private readSeconds = Number.NEGATIVE_INFINITY;

  constructor(simulation: ProgramSimulation) {
    const { policy, sample, replicas, predictions = {}, telemetrySeconds = 0, learner, scoring, recorded } = simulation;
    const times = recorded && new RecordedTimes(recorded);
    if (times === undefined && policy.scoresCallsFrom !== undefined && scoring?.calls === undefined)
      throw new Error(`The ${policy.kind} has answers of agents scored, and those of these programs have no scores: name no gates`);
    if (times === undefined && scoring === undefined && (policy.needs.includes("judged-scores") || policy.judges(0)))
      throw new Error(`The ${policy.kind} has answers judged, and those of these programs have no scores: route programs without a judge`);
    const programs = sample.arrivalSeconds.length;
    const requests = sample.program.length;
    this.policy = policy;
    this.sample = sample;
    this.predicted = predictions;
    this.times = times;
    this.scores = times === undefined ? new AnswerScores(scoring) : recordedScores(times);
    this.telemetrySeconds = telemetrySeconds;
    this.delays = delaysOf(simulation);

    const names = Array.from({ length: programs }, (_, program) => `program ${program}`);
    this.programIds = Array.from(sample.program, (program) => names[program] ?? "");
    this.arrivalSeconds = Float64Array.from(sample.program, (program) => sample.arrivalSeconds[program] ?? 0);
    this.inputTokens = Int32Array.from(sample.givenTokens);
    const promptBlocks = sample.promptBlocks && ((request: number) => sample.promptBlocks?.[request]);
    this.engines = new ClusterEngines(replicas, this.inputTokens, { promptBlocks, times });
    this.replicas = this.engines.views;
    this.graph = new RequestGraph(sample);
    this.gates = new ProgramGates(sample);
    this.calls = sample.workflows.map(({ name, stages }) => agentNames(stages).map((agent) => ({ workflow: name, agent })));
    this.readsConfigurations = policy.needs.includes("configurations");
    this.learning = recorded === undefined ? callLearning(policy, learner) : null;
    const learnt = policy.needs.includes("workflows") ? this.learning : null;
    this.forecasts = recorded === undefined ? learnt : recordedForecasts(recorded);
    this.joining = new SlotHeap(requests);
    const { searchSeconds } = this.delays;
    const ends = (request: number, joins: number) => Math.max(joins, recorded?.[request]?.searchedSeconds ?? joins + searchSeconds);
    this.searches = new ConfigurationSearches(requests, ends, (request) => {
      const program = sample.program[request] ?? 0;
      if (!this.readsConfigurations) return { accurate: undefined };
      const accurate = predictions.configurations?.(program);
      return policy.scoresCallsFrom === undefined ? { accurate } : { accurate, margins: predictions.margins?.(program) };
    });
    this.stage = new Int8Array(requests);
    this.model = new Int8Array(requests).fill(-1);
    this.readySeconds = new Float64Array(requests).fill(Number.NaN);
    this.answerSeconds = new Float64Array(requests).fill(Number.NaN);
    this.endToEndSeconds = new Float64Array(programs).fill(Number.POSITIVE_INFINITY);
    this.outputTokens = new Int32Array(programs);
    this.open = new Int32Array(programs);
    this.unanswered = Int32Array.from({ length: programs }, (_, program) => {
      return (sample.firstRequest[program + 1] ?? 0) - (sample.firstRequest[program] ?? 0);
    });
    for (let request = 0; request < requests; request++) {
      const begins = this.graph.unread(request) === 0;
      if (recorded === undefined ? begins && searchSeconds > 0 : recorded[request]?.searchedSeconds !== undefined)
        this.searches.awaits(request);
      if (!begins) continue;
      this.ready(request, this.arrivalSeconds[request] ?? 0, this.delays.firstSeconds);
    }
  }

  nextSeconds(): number {
    return Math.min(this.joining.leastKey, this.searches.nextSeconds, this.scores.nextSeconds(), this.engines.nextSeconds());
  }

  advanceTo(now: number): void {
    if (this.telemetrySeconds > 0) this.readTelemetry(now);
    this.engines.advanceTo(now);
  }

  takeAnswered(now: number): number | null {
    return this.engines.takeAnswered(now);
  }

  takeJudged(now: number): number | null {
    return this.scores.takeJudged(now);
  }

  takeSearched(now: number): Searched | null {
    return this.searches.take(now);
  }

  takeJoining(now: number): number | null {
    const escalated = this.scores.takeEscalated(now);
    if (escalated !== undefined) return escalated;
    return this.joining.leastKey <= now ? this.joining.pop() : null;
  }

  starting(request: number): StartingRequest {
    const { confidence } = this.predicted;
    return {
      programId: this.programIds[request] ?? "",
      call: this.callOf(request),
      inputTokens: this.inputTokens[request] ?? 0,
      routerScores: (name) => {
        const said = confidence?.(request, this.sample.models.indexOf(name));
        return said === undefined ? undefined : 100 * said;
      },
      replicas: this.replicas,
      judgeResting: false,
    };
  }

  predictions(request: number, stage: number) {
    const { requestTokens, remainingTokens } = this.predicted;
    const model = this.modelAt(stage);
    const inputTokens = this.inputTokens[request] ?? 0;
    return {
      predictedTokens: requestTokens?.(request, model, inputTokens),
      predictedProgramTokens: remainingTokens?.(request, model, inputTokens),
      forecast: this.times === undefined ? this.learning?.forecast(request) : this.times.requests[request]?.forecast,
      call: this.callOf(request),
      ...(this.sample.promptBlocks && { promptBlocks: this.sample.promptBlocks[request] }),
      ...this.searches.known(request),
    };
  }

  readMemory(now: number): void {
    if (this.telemetrySeconds > 0) this.engines.ageMemory(now - this.readSeconds);
    else this.engines.readMemory(now);
  }

  joined(request: number, { stage }: Start, now: number): void {
    this.stage[request] = stage;
    const model = this.sample.models[this.modelAt(stage)] ?? "";
    this.searches.joined(request, now);
    this.learning?.joined(request, identityOf(this.sample, request, this.programIds[request] ?? ""), {
      model,
      arrivedSeconds: this.readySeconds[request] ?? now,
      nowSeconds: now,
    });
  }

  dispatch(request: number, { replicaId, priority, stage }: Sending, now: number): boolean {
    if (stage !== undefined) this.stage[request] = stage;
    const model = this.modelAt(this.stage[request] ?? 0);
    const outputTokens = this.writtenAt(request);
    const fits = this.engines.dispatch(request, replicaId, { atSeconds: now + this.delays.decideSeconds, outputTokens, priority });
    this.learning?.dispatched(request, this.sample.models[model] ?? "", now);
    if (!fits) this.ended(request, { nowSeconds: now, outputTokens: null });
    return fits;
  }

  servedSeconds(request: number, now: number): number | undefined {
    return this.engines.servedSeconds(request, now);
  }

  release(request: number): string {
    return this.engines.release(request);
  }

  judge(request: number, now: number): void {
    const inputTokens = this.inputTokens[request] ?? 0;
    const answer = { nowSeconds: now, inputTokens, outputTokens: this.writtenAt(request) };
    if (this.isCall(request)) this.scores.readCall(request, answer);
    else this.scores.judge(request, answer);
  }

  judgedScore(request: number): number | null {
    const model = this.modelAt(this.stage[request] ?? 0);
    return this.isCall(request) ? this.scores.ofCall(request, model) : this.scores.of(request, model);
  }

  /** Whether its answer is one that the policy has scored for the choices after it. */
  private isCall(request: number): boolean {
    return (this.stage[request] ?? 0) >= (this.policy.scoresCallsFrom ?? Number.POSITIVE_INFINITY);
  }

  accept(request: number, _reason: string, now: number): void {
    const { sample } = this;
    const program = sample.program[request] ?? 0;
    const model = this.modelAt(this.stage[request] ?? 0);
    const written = this.writtenAt(request);
    this.model[request] = model;
    this.answerSeconds[request] = now - (this.readySeconds[request] ?? now);
    this.lastAnswer = now;
    this.outputTokens[program] = (this.outputTokens[program] ?? 0) + written;
    this.answered(request, written, now);
    this.ended(request, { nowSeconds: now, outputTokens: written });
  }

  refuse(request: number, now: number): void {
    this.ended(request, { nowSeconds: now, outputTokens: null });
  }

  /** No more requests of a program will arrive once all that could be sent have ended: of some, because one failed. */
  endsProgram(request: number): boolean {
    return this.open[this.sample.program[request] ?? 0] === 0;
  }

  sendOn(request: number, _to: Start, now: number): void {
    const inputTokens = this.inputTokens[request] ?? 0;
    this.learning?.finished(request, { nowSeconds: now, inputTokens, outputTokens: this.writtenAt(request) });
    this.scores.escalate(request, now);
  }

  /** The outcomes of the programs so far. @param decisions number of calls of the policy. */
  outcome(decisions: number): ProgramOutcome {
    const { sample, engines, model, readySeconds, answerSeconds, endToEndSeconds } = this;
    const horizonSeconds = Math.max(0, this.lastAnswer - (sample.arrivalSeconds[0] ?? 0));
    const waitSeconds = engines.admittedSeconds.map((seconds, request) => seconds - (readySeconds[request] ?? 0));
    const queueSeconds = new Float64Array(endToEndSeconds.length);
    for (const [request, program] of sample.program.entries()) {
      const wait = waitSeconds[request] ?? Number.NaN;
      if (!Number.isNaN(wait)) queueSeconds[program] = (queueSeconds[program] ?? 0) + wait;
    }
    const shareOf = (read: (model: string) => number) =>
      sample.models.map((name) => (horizonSeconds > 0 && this.replicas.some((replica) => replica.model === name) ? read(name) : 0));
    return {
      endToEndSeconds,
      outputTokens: this.outputTokens,
      queueSeconds,
      quality: endToEndSeconds.map((seconds, program) =>
        seconds === Number.POSITIVE_INFINITY
          ? Number.NaN
          : programQuality(sample, program, model, (request) => this.gates.givenBy(request)),
      ),
      model,
      readySeconds,
      waitSeconds,
      answerSeconds,
      firstTokenSeconds: answerSeconds.map((seconds, request) =>
        Number.isNaN(seconds) ? seconds : (engines.firstTokenSeconds[request] ?? 0) - (readySeconds[request] ?? 0),
      ),
      horizonSeconds,
      unserved: endToEndSeconds.reduce((sum, seconds) => sum + (seconds === Number.POSITIVE_INFINITY ? 1 : 0), 0),
      preemptions: engines.preemptions(),
      preemptedRequests: engines.preempted.reduce((sum, was) => sum + was, 0),
      promotions: engines.promotions(),
      decisions,
      gated: this.gates.decided,
      busyShare: shareOf((name) => engines.busyShare(name, horizonSeconds)),
      fullShare: shareOf((name) => engines.fullShare(name, horizonSeconds)),
      ...(sample.promptBlocks && { prefixHitShare: shareOf((name) => engines.prefixHitShare(name) ?? 0) }),
    };
  }

  /** Output tokens of the answer at the request's stage. */
  private writtenAt(request: number): number {
    return this.sample.outputTokens[this.modelAt(this.stage[request] ?? 0)]?.[request] ?? 0;
  }

  /** Its place in its workflow, as its client would name it. */
  private callOf(request: number): WorkflowCall | undefined {
    const { workflow, program, firstRequest } = this.sample;
    const own = program[request] ?? 0;
    return this.calls[workflow[own] ?? 0]?.[request - (firstRequest[own] ?? 0)];
  }

  /** The answer of a request is there, written or given by a skipped one: those that read it are ready, or skipped themselves. */
  private answered(request: number, tokens: number, now: number): void {
    const { sample, graph, gates, inputTokens } = this;
    const program = sample.program[request] ?? 0;
    this.unanswered[program] = (this.unanswered[program] ?? 0) - 1;
    if (this.unanswered[program] === 0) this.endToEndSeconds[program] = now - (sample.arrivalSeconds[program] ?? 0);
    for (const reader of graph.readersOf(request)) {
      inputTokens[reader] = (inputTokens[reader] ?? 0) + tokens;
      if (!graph.read(reader)) continue;
      const given = gates.decide(reader, this.model);
      if (given === null) this.ready(reader, now, this.delays.laterSeconds);
      else this.answered(reader, sample.outputTokens[this.model[given] ?? -1]?.[given] ?? 0, now);
    }
  }

  private ready(request: number, now: number, delaySeconds: number): void {
    const program = this.sample.program[request] ?? 0;
    this.readySeconds[request] = now;
    this.open[program] = (this.open[program] ?? 0) + 1;
    this.joining.push(request, this.times?.joinsSeconds(request, now) ?? now + delaySeconds, this.became++);
  }

  private ended(request: number, end: Omit<CallEnd, "inputTokens">): void {
    const program = this.sample.program[request] ?? 0;
    this.open[program] = (this.open[program] ?? 0) - 1;
    this.learning?.finished(request, { ...end, inputTokens: this.inputTokens[request] ?? 0 });
    if (this.endsProgram(request)) this.learning?.ended(this.programIds[request] ?? "", end.nowSeconds);
  }

  /** Readings are made at multiples of the period, with or without other events then. */
  private readTelemetry(now: number): void {
    const latest = Math.floor(now / this.telemetrySeconds) * this.telemetrySeconds;
    if (latest <= this.readSeconds) return;
    this.engines.advanceTo(latest);
    this.engines.readMemory(latest);
    this.readSeconds = latest;
  }

  /** Index into the sample's models of the one that serves a stage of the policy. */
  private modelAt(stage: number): number {
    const known = this.modelOfStage[stage];
    if (known !== undefined) return known;
    const name = this.policy.modelOfStage(stage);
    const model = this.sample.models.indexOf(name);
    if (model < 0) throw new Error(`The programs have no answers of ${name}`);
    this.modelOfStage[stage] = model;
    return model;
  }
}

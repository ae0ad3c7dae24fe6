import type { GateRecord, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirroredAnswer, MirrorRequest, Mirror as MirrorSummary } from "@/server/contracts/gateway/gatewayControls";
import { simpleGatesOf } from "@/solver/gates/gateDocument";
import { canonicalJson } from "@/solver/plan/canonical";
import { spareReplica } from "@/solver/policies/places/spareReplica";
import { callEngine, type EngineReply } from "../engines/engineCall";
import type { Replica } from "../engines/replica";
import { type StageOutcome, stageOutcome } from "../engines/stageOutcome";
import type { AnswerGate, GateFinding } from "../gates/answerGate";
import type { OtherAnswers } from "../gates/otherAnswers";
import type { BodyMemoryBudget } from "../http/bodyMemoryBudget";
import { engineBody } from "../http/engineBody";
import type { GatewayLimits } from "../http/limits";
import { type ModelRequest, withoutTrace } from "../http/modelRequest";
import { type Usage, usageOf } from "../http/usage";
import { stableShare } from "../lib/stableShare";
import { answerCost, chargedCall, scoreCost } from "../serving/requestCost";
import type { ServedModel } from "../serving/servedModel";
import type { Serving } from "../serving/serving";
import type { AnsweredRequest, TrafficObserver } from "../serving/trafficObserver";
import type { MirrorSamples } from "./mirrorSamples";

/** Outcome of a copy, or of its answer by one model; `skipped`: there was no room. */
export type MirrorOutcome = "completed" | "skipped" | "failed";

interface MirrorOptions {
  readonly request: MirrorRequest;
  readonly serving: Serving;
  readonly limits: Pick<GatewayLimits, "copySeconds" | "judgeSeconds" | "answerBytes">;
  /** The memory that further answers share with request bodies. */
  readonly bodies: BodyMemoryBudget;
  readonly samples: MirrorSamples;
  readonly onCopy: (outcome: MirrorOutcome) => void;
  readonly onAnswer: (usage: Usage) => void;
}

interface Place {
  readonly replica: Replica;
  /** What scores the answer; undefined: nothing does. */
  readonly gate: AnswerGate | undefined;
  readonly signal: AbortSignal;
}

type Asked = { readonly outcome: "completed"; readonly answer: MirroredAnswer } | { readonly outcome: "skipped" | "failed" };

/** 0 to 100. */
const scores = 101;

/** Scores of one model by one gate. */
interface ScoreCounts {
  readonly gate: string;
  readonly kind: GateRecord["kind"];
  readonly counts: number[];
}

/**
 * Copies a share of the cascade's requests, once they are answered, to those of its models whose answer has no score, and has every answer
 * scored by the gate of its stage, the last one's by the judge, so that the scores of all models on all traffic are known. In a cascade
 * without a judge the last model's answer has no score, only its length. A request counts once all models have answered it. Copies use spare capacity only: a slot that is free at once, at an
 * engine that stays at least half empty and for whose model nothing waits, and a judge with a spare call. They are not retried and not
 * drained, and their failures do not count against an engine.
 */
export class Mirror implements TrafficObserver {
  readonly request: MirrorRequest;
  readonly #options: MirrorOptions;
  readonly #sinceMs = Date.now();
  readonly #underWay = new Set<AbortController>();
  #ended = false;
  readonly #copies = { picked: 0, completed: 0, skipped: 0, failed: 0 };
  readonly #tokens = { input: 0, output: 0 };
  #costUsd: number | null = 0;
  readonly #scores = new Map<string, ScoreCounts>();

  constructor(options: MirrorOptions) {
    this.request = options.request;
    this.#options = options;
  }

  /** Copies the request if it is in the share and there is room; returns at once and never throws because of an engine. */
  offer(answered: AnsweredRequest): void {
    const { asked, served, decision } = answered;
    if (this.#ended || decision.status !== 200 || asked.endpoint.text === null) return;
    if (stableShare(`mirror ${asked.decisionId}`) >= this.request.share) return;
    this.#copies.picked += 1;
    const known = knownAnswers(served, decision.stages);
    const places = this.#underWay.size < this.request.maxInFlight ? this.#places(served, known) : null;
    if (places === null) {
      this.#count("skipped");
      return;
    }
    void this.#copy(answered, known, places);
  }

  /** Stops copying and aborts the copies in flight. */
  close(): void {
    this.#ended = true;
    for (const copy of this.#underWay) copy.abort();
  }

  summary(): MirrorSummary {
    return {
      ...this.request,
      sinceMs: this.#sinceMs,
      inFlight: this.#underWay.size,
      ...this.#copies,
      inputTokens: this.#tokens.input,
      outputTokens: this.#tokens.output,
      costUsd: this.#costUsd,
      scores: Object.fromEntries([...this.#scores].map(([model, { counts }]) => [model, [...counts]])),
      gates: Object.fromEntries([...this.#scores].map(([model, { kind }]) => [model, kind])),
      lastSample: this.#options.samples.latest,
    };
  }

  /**
   * A slot for every model whose answer is not known, in use from now on: no further answer may take the room that the copy was promised.
   * null unless all of them have room now.
   */
  #places(served: ServedModel, known: ReadonlyMap<string, MirroredAnswer>): readonly Omit<Place, "signal">[] | null {
    const places: Omit<Place, "signal">[] = [];
    for (const model of served.models) {
      const { pool, queued } = this.#options.serving;
      // No copy leaves the house.
      if (known.has(model) || pool.isHosted(model)) continue;
      const gate = served.mirrorGates.get(model);
      const replica = spareReplica(model, { pool: pool.own, queued });
      if (replica === undefined || (gate !== undefined && mayAskJudge(gate) && served.judge?.hasSpare !== true)) {
        for (const place of places) place.replica.end();
        return null;
      }
      replica.begin();
      places.push({ replica, gate });
    }
    return places;
  }

  async #copy(
    answered: AnsweredRequest,
    known: ReadonlyMap<string, MirroredAnswer>,
    places: readonly Omit<Place, "signal">[],
  ): Promise<void> {
    const end = new AbortController();
    this.#underWay.add(end);
    const deadline = setTimeout(() => end.abort(), this.#options.limits.copySeconds * 1000);
    const ask = (place: Omit<Place, "signal">): Promise<Asked> =>
      this.#ask(answered, { ...place, signal: end.signal }).catch(() => ({ outcome: "failed" }) as const);
    const asked = await Promise.all(places.map(ask));
    clearTimeout(deadline);
    this.#underWay.delete(end);
    if (this.#ended) return;
    const outcomes = asked.map(({ outcome }) => outcome);
    if (outcomes.includes("failed")) return this.#count("failed");
    if (outcomes.includes("skipped")) return this.#count("skipped");
    const answers = [...known.values(), ...asked.flatMap((one) => (one.outcome === "completed" ? [one.answer] : []))];
    this.#keep(answered, answers);
    this.#count("completed");
  }

  async #ask({ asked }: AnsweredRequest, place: Place): Promise<Asked> {
    const { gate, signal } = place;
    const { model } = place.replica;
    const { limits } = this.#options;
    const startedMs = performance.now();
    const { reply, others } = await this.#call({ ...asked, requestId: `${asked.requestId}-mirror` }, place);
    const outcome = stageOutcome({ kind: "not-begun", reply }, asked.endpoint);
    if (this.#ended || outcome.kind !== "answered") {
      others?.cancel();
      return { outcome: "failed" };
    }
    const usage = usageOf(outcome.completion);
    this.#spend(model, usage);
    if (gate === undefined) return { outcome: "completed", answer: { model, ...usage, score: null } };
    const mostWaitMs = Math.max(limits.judgeSeconds * 1000, performance.now() - startedMs);
    const finding = await this.#read({ asked, gate, others, outcome, mostWaitMs, signal });
    for (const call of others?.calls ?? []) {
      const charged = chargedCall(call, usage.inputTokens ?? asked.inputTokens);
      if (charged !== null) this.#spend(charged.model, charged);
    }
    // A score of a part of the further answers is another one than was planned.
    if (finding?.unscored === "busy" || others?.isWhole === false) return { outcome: "skipped" };
    if (this.#ended || finding === null || finding.score === null) return { outcome: "failed" };
    const { config } = this.#options.serving;
    if (config !== null && finding.judgeMs !== undefined) this.#pay(scoreCost(config));
    const { kind, raw, score } = finding;
    return { outcome: "completed", answer: { model, ...usage, score, gate: { kind, raw } } };
  }

  #read({ asked, gate, others, outcome, mostWaitMs, signal }: Reading): Promise<GateFinding | null> {
    const tokens = gate.readsTokens ? (asked.endpoint.text?.tokens(outcome.completion) ?? null) : null;
    return gate.read({ asked, answered: outcome, tokens, others, mostWaitMs, evidence: undefined, signal });
  }

  /** Uses the slot that was taken, and leaves it. Bypasses the policies, which see the call only in the engine's count of requests. */
  async #call(copy: ModelRequest, { replica, gate, signal }: Place): Promise<Called> {
    const { limits, bodies } = this.#options;
    try {
      const asksTokens = gate?.readsTokens === true && replica.addedFields.areTaken(performance.now());
      const added = asksTokens ? (copy.endpoint.text?.tokenFields(copy.body) ?? null) : null;
      const others = gate?.begin({ asked: copy, signal, answerBytes: limits.answerBytes, bodies }) ?? null;
      const reply = await callEngine({
        pool: replica.pool,
        path: replica.basePath + copy.endpoint.enginePath,
        headers: { ...withoutTrace(copy.upstreamHeaders), "x-request-id": copy.requestId },
        body: engineBody(copy, replica.servedName, { stream: false, priority: null, ...(added !== null && { added }) }),
        signal,
        mostBytes: limits.answerBytes,
        watch: replica.stallDetector,
      });
      return { reply, others };
    } finally {
      replica.end();
      this.#options.serving.pump();
    }
  }

  #keep({ asked, served }: AnsweredRequest, answers: readonly MirroredAnswer[]): void {
    const inOrder = served.models.flatMap((model) => answers.find((answer) => answer.model === model) ?? []);
    for (const answer of inOrder) this.#score(answer, served.mirrorGates.get(answer.model));
    const { decisionId } = asked;
    const { planId, policyHash } = served;
    this.#options.samples.append({ decisionId, planId, policyHash, atMs: Date.now(), answers: inOrder });
  }

  #count(outcome: MirrorOutcome): void {
    this.#copies[outcome] += 1;
    this.#options.onCopy(outcome);
  }

  /** Scores of another gate than before begin anew: they are not comparable. */
  #score({ model, score }: MirroredAnswer, gate: AnswerGate | undefined): void {
    if (score === null || gate === undefined) return;
    const name = canonicalJson(gate.document);
    let own = this.#scores.get(model);
    if (own?.gate !== name) own = { gate: name, kind: gate.kind, counts: Array<number>(scores).fill(0) };
    const at = Math.round(score);
    own.counts[at] = (own.counts[at] ?? 0) + 1;
    this.#scores.set(model, own);
  }

  #spend(model: string, usage: Usage): void {
    this.#tokens.input += usage.inputTokens ?? 0;
    this.#tokens.output += usage.outputTokens ?? 0;
    const { config } = this.#options.serving;
    this.#pay(config === null ? null : answerCost(model, usage, config));
    this.#options.onAnswer(usage);
  }

  /** Becomes null once a request of unknown cost was sent. */
  #pay(usd: number | null): void {
    this.#costUsd = this.#costUsd === null || usd === null ? null : this.#costUsd + usd;
  }
}

interface Called {
  readonly reply: EngineReply;
  readonly others: OtherAnswers | null;
}

interface Reading {
  readonly asked: ModelRequest;
  readonly gate: AnswerGate;
  readonly others: OtherAnswers | null;
  readonly outcome: Extract<StageOutcome, { kind: "answered" }>;
  readonly mostWaitMs: number;
  readonly signal: AbortSignal;
}

const mayAskJudge = ({ document }: AnswerGate): boolean => simpleGatesOf(document).some(({ kind }) => kind === "judge");

const comparesAnswers = ({ document }: AnswerGate): boolean => simpleGatesOf(document).some(({ kind }) => kind === "agreement");

/**
 * The answers of the request itself that need no copy, by model: those that their gate has scored, and of models that nothing scores all. A
 * gate that compares further answers stops as soon as the verdict is sure. Those that it has compared whole are the ones of which the verdict
 * was open to the end: they are no fair sample of all, and every answer is copied.
 */
function knownAnswers({ mirrorGates }: ServedModel, stages: readonly StageRecord[]): ReadonlyMap<string, MirroredAnswer> {
  const known = new Map<string, MirroredAnswer>();
  for (const { model, verdict, inputTokens, outputTokens, judgedScore, gate } of stages) {
    if (verdict === "failed") continue;
    const own = mirrorGates.get(model);
    const answer = { model, inputTokens, outputTokens };
    if (own === undefined) known.set(model, { ...answer, score: null });
    else if (judgedScore !== null && gate?.kind === own.kind && !comparesAnswers(own))
      known.set(model, { ...answer, score: judgedScore, gate: { kind: gate.kind, ...(gate.raw && { raw: gate.raw }) } });
  }
  return known;
}

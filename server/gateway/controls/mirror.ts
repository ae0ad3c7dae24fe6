import type { MirrorRequest, Mirror as MirrorSummary } from "@/server/contracts/gateway/gatewayControls";
import { judgeScoreOf } from "@/solver/gates/gates";
import { spareReplica } from "@/solver/policies/places/spareReplica";
import { callEngine, type EngineReply } from "../engines/engineCall";
import type { Replica } from "../engines/replica";
import { stageOutcome } from "../engines/stageOutcome";
import type { GatewayLimits } from "../http/limits";
import { engineBody, type ModelRequest, withoutTrace } from "../http/modelRequest";
import { type Usage, usageOf } from "../http/usage";
import { stableShare } from "../lib/stableShare";
import { answerCost, scoreCost } from "../serving/requestCost";
import type { Serving } from "../serving/serving";
import type { AnsweredRequest, TrafficObserver } from "../serving/trafficObserver";

/** Outcome of a copy, or of its answer by one model; `skipped`: there was no room. */
export type MirrorOutcome = "completed" | "skipped" | "failed";

interface MirrorOptions {
  readonly request: MirrorRequest;
  readonly serving: Serving;
  readonly limits: Pick<GatewayLimits, "copySeconds" | "answerBytes">;
  readonly onCopy: (outcome: MirrorOutcome) => void;
  readonly onAnswer: (usage: Usage) => void;
}

interface Place {
  readonly replica: Replica;
  readonly signal: AbortSignal;
}

/** 0 to 100. */
const scores = 101;

/**
 * Copies a share of the cascade's requests, once they are answered, to those of its models whose answer was not judged, and has every
 * answer judged, so that the scores of all models on all traffic are known. Copies use spare capacity only: a slot that is free at once, at
 * an engine that stays at least half empty and for whose model nothing waits, and a judge with a spare call. They are not retried and not
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
  readonly #scores = new Map<string, number[]>();

  constructor(options: MirrorOptions) {
    this.request = options.request;
    this.#options = options;
  }

  /** Copies the request if it is in the share and there is room; returns at once and never throws because of an engine. */
  offer(answered: AnsweredRequest): void {
    const { asked, decision } = answered;
    if (this.#ended || decision.status !== 200 || asked.endpoint.text === null) return;
    if (stableShare(`mirror ${asked.decisionId}`) >= this.request.share) return;
    this.#copies.picked += 1;
    const places = this.#underWay.size < this.request.maxInFlight ? this.#places(answered) : null;
    if (places === null) {
      this.#count("skipped");
      return;
    }
    for (const stage of decision.stages) {
      const score = judgeScoreOf(stage);
      if (score !== null) this.#score(stage.model, Math.round(score));
    }
    void this.#copy(answered, places);
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
      scores: Object.fromEntries([...this.#scores].map(([model, counts]) => [model, [...counts]])),
    };
  }

  /** A slot for every model whose answer has no score; null unless all of them have room now. */
  #places({ served, decision: { stages } }: AnsweredRequest): readonly Replica[] | null {
    if (!served.judge?.hasSpare) return null;
    const judged = new Set(stages.filter((stage) => judgeScoreOf(stage) !== null).map(({ model }) => model));
    const places: Replica[] = [];
    for (const model of served.models) {
      if (judged.has(model)) continue;
      const place = spareReplica(model, this.#options.serving);
      if (place === undefined) return null;
      places.push(place);
    }
    return places;
  }

  async #copy(answered: AnsweredRequest, places: readonly Replica[]): Promise<void> {
    const end = new AbortController();
    this.#underWay.add(end);
    const deadline = setTimeout(() => end.abort(), this.#options.limits.copySeconds * 1000);
    const ask = (replica: Replica) => this.#ask(answered, { replica, signal: end.signal }).catch(() => "failed" as const);
    const outcomes = await Promise.all(places.map(ask));
    clearTimeout(deadline);
    this.#underWay.delete(end);
    if (this.#ended) return;
    if (outcomes.includes("failed")) this.#count("failed");
    else this.#count(outcomes.includes("skipped") ? "skipped" : "completed");
  }

  async #ask({ asked, served }: AnsweredRequest, place: Place): Promise<MirrorOutcome> {
    const { replica, signal } = place;
    const { text } = asked.endpoint;
    const outcome = stageOutcome({ kind: "not-begun", reply: await this.#call(asked, place) }, asked.endpoint);
    if (this.#ended || outcome.kind !== "answered") return "failed";
    this.#spend(replica.model, usageOf(outcome.completion));
    const answer = text?.answer(outcome.completion) ?? null;
    if (text === null || answer === null) return "failed";
    const reading = await served.judge?.tryScore(text.prompt(asked.body), answer, signal);
    if (reading === undefined || reading === null) return "skipped";
    if (this.#ended || reading.score === null) return "failed";
    this.#score(replica.model, reading.score);
    const { config } = this.#options.serving;
    if (config !== null) this.#pay(scoreCost(config));
    return "completed";
  }

  /** Bypasses the policies, which see the call only in the engine's count of requests. */
  async #call(asked: ModelRequest, { replica, signal }: Place): Promise<EngineReply> {
    replica.begin();
    try {
      return await callEngine({
        pool: replica.pool,
        path: replica.basePath + asked.endpoint.path,
        headers: { ...withoutTrace(asked.upstreamHeaders), "x-request-id": `${asked.requestId}-mirror` },
        body: engineBody(asked, replica.servedName, { stream: false, priority: null }),
        signal,
        mostBytes: this.#options.limits.answerBytes,
        watch: replica.stallDetector,
      });
    } finally {
      replica.end();
      this.#options.serving.pump();
    }
  }

  #count(outcome: MirrorOutcome): void {
    this.#copies[outcome] += 1;
    this.#options.onCopy(outcome);
  }

  #score(model: string, score: number): void {
    const counts = this.#scores.get(model) ?? Array<number>(scores).fill(0);
    counts[score] = (counts[score] ?? 0) + 1;
    this.#scores.set(model, counts);
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

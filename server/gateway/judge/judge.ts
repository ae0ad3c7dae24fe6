import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import { type EndSignal, RequestEnd } from "@/server/lib/requestEnd";
import { completionScore, judgeCallBody } from "@/solver/judging/judgeCall";
import { judgePrompt, type Wording } from "@/solver/judging/judgePrompt";
import { callEngine, type EngineReply, isBrokenOrFull } from "../engines/engineCall";
import { Breaker, type Trial } from "./breaker";
import type { JudgePlace, JudgeSite } from "./judgeSite";

/** Outcome of a request for a score. */
type JudgeOutcome =
  | "scored"
  /** Not asked: its circuit is open after failures. */
  | "circuit-open"
  /** Not asked: no engine of it takes calls, or none is configured. */
  | "unavailable"
  /** No slot became free in time. */
  | "busy"
  | "too-late"
  | "failed"
  /** It refused this prompt, for example because it exceeds its context. */
  | "refused"
  | "no-score"
  | "aborted";

type JudgeStatus = NonNullable<GatewayStatus["judge"]>;

export interface JudgeReading {
  /** Null when the judge was not asked, failed, was too late, or gave no single number from 0 to 100. */
  readonly score: number | null;
  /** Why there is no score. */
  readonly failure: string | null;
  readonly outcome: JudgeOutcome;
}

export interface JudgeOptions {
  readonly model: string;
  readonly site: JudgeSite;
  /** Limit for one call, and before it for the wait until it may be made. */
  readonly timeoutSeconds: number;
  readonly wording: Wording;
}

interface Reading {
  readonly prompt: string;
  readonly answer: string;
  readonly signal: EndSignal;
  /** Most calls for one score. */
  readonly attempts: number;
}

const noScore = (outcome: JudgeOutcome, failure: string): JudgeReading => ({ score: null, failure, outcome });
const aborted = noScore("aborted", "the request was aborted");
const circuitOpen = noScore("circuit-open", "the judge's circuit is open after repeated failures");
/** For an answer of a few tokens. */
const mostAnswerBytes = 1_000_000;
/** Statuses by which it refuses this prompt only; they say nothing about other prompts. */
const refusals: readonly number[] = [400, 413, 422];

/** Asks the judge model for the score of an answer. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #breaker = new Breaker();
  readonly #health: Pick<JudgeStatus, "scored" | "failed" | "lastScoreMs" | "lastFailure"> = {
    ...{ scored: 0, failed: 0, lastScoreMs: null, lastFailure: null },
  };

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Whether it is not asked at present: its circuit is open, or it is unavailable. */
  get isPaused(): boolean {
    return this.#breaker.isOpen || this.#options.site.unavailable() !== null;
  }

  /** Its state, and its calls by outcome so far. */
  status(): JudgeStatus {
    const { model, site } = this.#options;
    return { model, circuitOpen: this.#breaker.isOpen, unavailable: site.unavailable(), ...this.#health };
  }

  /** The score of an answer. Never rejects; a reading without a score says why. */
  async score(prompt: string, answer: string, signal: EndSignal): Promise<JudgeReading> {
    const held = this.#heldBack();
    if (held !== null) return held;
    const place = await this.#turn(signal);
    return place === null
      ? this.#turnNeverCame(signal)
      : this.#readFrom(place, { prompt, answer, signal, attempts: this.#options.site.attempts });
  }

  /** Whether `tryScore` would be admitted now. */
  get hasSpare(): boolean {
    return this.#heldBack() === null && this.#options.site.hasSpare();
  }

  /** The score of a mirrored answer: only if a slot is free at once and half of the judge stays free, else null. Not retried. */
  async tryScore(prompt: string, answer: string, signal: EndSignal): Promise<JudgeReading | null> {
    const place = this.#heldBack() === null ? this.#options.site.trySpare() : null;
    return place === null ? null : this.#readFrom(place, { prompt, answer, signal, attempts: 1 });
  }

  /** Closes its own connections. */
  close(): void {
    this.#options.site.close();
  }

  #heldBack(): JudgeReading | null {
    const missing = this.#options.site.unavailable();
    if (missing !== null) return noScore("unavailable", `the judge cannot be called: ${missing}`);
    return this.#breaker.isOpen ? circuitOpen : null;
  }

  /**
   * A slot for a call. The wait has its own time limit, so that a call that had to wait is not cut short and counted as the judge's
   * failure.
   */
  #turn(signal: EndSignal): JudgePlace | Promise<JudgePlace | null> {
    const { site, timeoutSeconds } = this.#options;
    return site.tryEnter() ?? within(timeoutSeconds, signal, (limited) => site.enter(limited.abortSignal));
  }

  #turnNeverCame(signal: EndSignal): JudgeReading {
    const { site, timeoutSeconds } = this.#options;
    if (signal.aborted) return aborted;
    return this.#heldBack() ?? noScore("busy", `${site.full()} for ${timeoutSeconds} s`);
  }

  /** One engine's failure is not the judge's: it counts only if every attempt failed. */
  async #readFrom(first: JudgePlace, { prompt, answer, signal, attempts }: Reading): Promise<JudgeReading> {
    // The judge may have failed while this call waited for its turn.
    const trial = this.#breaker.begin();
    if (trial === null) {
      first.leave("cut-off");
      return circuitOpen;
    }
    const { site, wording } = this.#options;
    const content = judgePrompt(prompt, answer, wording);
    let reading = await this.#readAt(first, content, signal);
    for (let made = 1; made < attempts && reading.outcome === "failed" && site.unavailable() === null; made += 1) {
      const place = await this.#turn(signal);
      if (place === null) break;
      reading = await this.#readAt(place, content, signal);
    }
    if (signal.aborted) reading = aborted;
    report(trial, reading.outcome);
    this.#note(reading);
    return reading;
  }

  #note({ outcome, failure }: JudgeReading): void {
    const health = this.#health;
    if (outcome === "aborted") return;
    if (outcome === "scored") {
      health.scored += 1;
      health.lastScoreMs = Date.now();
      return;
    }
    health.failed += 1;
    health.lastFailure = { atMs: Date.now(), outcome, reason: failure ?? "" };
  }

  async #readAt(place: JudgePlace, content: string, signal: EndSignal): Promise<JudgeReading> {
    const reply = await within(this.#options.timeoutSeconds, signal, (limited) => this.#ask(place, content, limited));
    const broken = reply.kind === "failed" || (reply.kind === "answered" && isBrokenOrFull(reply.status));
    place.leave(reply.kind === "aborted" ? "cut-off" : broken ? "failed" : "answered");
    return this.#reading(reply);
  }

  #ask(
    { pool, path, watch, servedName: model = this.#options.model }: JudgePlace,
    content: string,
    signal: EndSignal,
  ): Promise<EngineReply> {
    const body = JSON.stringify(judgeCallBody(model, content));
    return callEngine({
      pool,
      path,
      headers: { "content-type": "application/json" },
      body,
      signal,
      mostBytes: mostAnswerBytes,
      ...(watch && { watch }),
    });
  }

  #reading(reply: EngineReply): JudgeReading {
    if (reply.kind === "aborted") return noScore("too-late", `no score within ${this.#options.timeoutSeconds} s`);
    if (reply.kind === "failed") return noScore("failed", reply.reason);
    if (reply.status !== 200) {
      return noScore(refusals.includes(reply.status) ? "refused" : "failed", `the judge answered ${reply.status}`);
    }
    const score = completionScore(reply.body.toString("utf8"));
    return score === null
      ? noScore("no-score", "the judge's answer is not a single number from 0 to 100")
      : { score, failure: null, outcome: "scored" };
  }
}

function report(trial: Trial, outcome: JudgeOutcome): void {
  if (outcome === "scored") trial.succeeded();
  else if (outcome === "aborted" || outcome === "refused") trial.gaveUp();
  else trial.failed();
}

/** Runs with a signal that fires with `signal` or when the time is over. */
async function within<T>(seconds: number, signal: EndSignal, run: (limited: RequestEnd) => Promise<T>): Promise<T> {
  const limit = new RequestEnd();
  const end = (): void => limit.abort("too-late" satisfies JudgeOutcome);
  const timer = setTimeout(end, seconds * 1000);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await run(limit);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

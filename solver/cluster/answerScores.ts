import { fixedJudge, type JudgeQueue } from "./judgeQueue";
import type { ProgramScoring } from "./programSimulation";

/** An answer that is to be scored. */
interface ScoredAnswer {
  readonly nowSeconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Scores of the answers of programs' requests, and the requests that a policy escalated by them. */
export interface ProgramScores {
  nextSeconds(): number;
  judge(request: number, answer: ScoredAnswer): void;
  /** The answer to a call is scored by its gate. */
  readCall(request: number, answer: ScoredAnswer): void;
  takeJudged(now: number): number | null;
  /** The score of a model's answer to the request; null where its gate gives none. */
  of(request: number, model: number): number | null;
  /** The score of a model's answer to a call; null where its gate gives none. */
  ofCall(request: number, model: number): number | null;
  escalate(request: number, now: number): void;
  /** The next escalated request that joins its next stage by now. */
  takeEscalated(now: number): number | undefined;
}

/** Scores of a sample. */
export class AnswerScores implements ProgramScores {
  private readonly queue: JudgeQueue;
  /** Of calls' answers: their gates take no time. */
  private readonly calls = fixedJudge(0);
  /** Requests that were escalated at this instant. */
  private readonly escalated: number[] = [];

  /** @param scoring undefined: no answer has a score. */
  constructor(private readonly scoring: ProgramScoring | undefined) {
    this.queue = fixedJudge(scoring?.seconds ?? 0);
  }

  nextSeconds(): number {
    return Math.min(this.queue.nextSeconds(), this.calls.nextSeconds());
  }

  judge(request: number, answer: ScoredAnswer): void {
    this.queue.judge(request, answer);
  }

  /** The answer to a call is scored by its gate, which reads it at once. */
  readCall(request: number, answer: ScoredAnswer): void {
    this.calls.judge(request, answer);
  }

  takeJudged(now: number): number | null {
    return this.calls.takeJudged(now) ?? this.queue.takeJudged(now);
  }

  ofCall(request: number, model: number): number | null {
    const score = this.scoring?.calls?.[model]?.[request] ?? Number.NaN;
    return Number.isNaN(score) ? null : score;
  }

  of(request: number, model: number): number | null {
    const score = this.scoring?.scores[model]?.[request] ?? Number.NaN;
    return Number.isNaN(score) ? null : score;
  }

  escalate(request: number): void {
    this.escalated.push(request);
  }

  takeEscalated(): number | undefined {
    return this.escalated.shift();
  }
}

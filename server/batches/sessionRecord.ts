import type { BatchSession } from "@/server/contracts/studio/batches";
import type { StoredBatchSession } from "@/server/store/batchRepository";
import type { ShapedSession } from "./batchShape";

type State = BatchSession["state"];

/** State and duration of a session, in engine seconds. */
export class SessionRecord {
  state: State = "waiting";
  loadSeconds: number | null = null;
  /** Whether it ran without interruption from its first question to its last answer: no kill, pause, dead engine or failed attempt. */
  isWhole = true;
  answers = 0;
  outputTokens = 0;
  mostOutputTokens = 0;
  #seconds = 0;
  #stretch: { readonly sinceMs: number; readonly timeScale: number; readonly answers: number } | null = null;
  /** Set while it is paused. */
  #lastStretch: ReturnType<SessionRecord["stretch"]> = null;

  /** @param all sessions of its batch that were begun. */
  constructor(
    readonly session: ShapedSession,
    all: readonly StoredBatchSession[],
  ) {
    const { stage, worker, turn } = session;
    const stored = all.find((one) => one.stage === stage && one.worker === worker && one.turn === turn);
    if (stored === undefined) return;
    this.state = stored.state;
    this.loadSeconds = stored.loadSeconds;
    this.#seconds = stored.seconds ?? 0;
    this.isWhole = stored.state === "loading" && this.#seconds === 0;
  }

  /** Answering time so far. */
  seconds(nowMs: number): number {
    const { sinceMs, timeScale } = this.#stretch ?? { sinceMs: nowMs, timeScale: 1 };
    return this.#seconds + ((nowMs - sinceMs) / 1000) * timeScale;
  }

  /**
   * Answers since it last began to answer, and engine seconds since then or until it paused; null: it has never answered, or has only just
   * begun.
   */
  stretch(nowMs: number): { readonly answers: number; readonly seconds: number } | null {
    if (this.#stretch === null) return this.#lastStretch;
    const { sinceMs, timeScale, answers } = this.#stretch;
    const seconds = ((nowMs - sinceMs) / 1000) * timeScale;
    return seconds > 0 ? { answers: this.answers - answers, seconds } : null;
  }

  /** Does nothing if it has begun and is not paused. */
  begin(nowMs: number, timeScale: number): void {
    this.#stretch ??= { sinceMs: nowMs, timeScale, answers: this.answers };
  }

  /** Its time stops until it begins again. Does nothing if it is paused. */
  rest(nowMs: number): void {
    this.#lastStretch = this.stretch(nowMs);
    this.#seconds = this.seconds(nowMs);
    this.#stretch = null;
  }

  took(outputTokens: number): void {
    this.answers += 1;
    this.outputTokens += outputTokens;
    this.mostOutputTokens = Math.max(this.mostOutputTokens, outputTokens);
  }

  /** @param state to be recorded. */
  stored(batchId: string, state: StoredBatchSession["state"], nowMs: number): StoredBatchSession {
    const { stage, worker, turn } = this.session;
    return { batchId, stage, worker, turn, state, loadSeconds: this.loadSeconds, seconds: this.seconds(nowMs) };
  }
}

import type { Logger } from "pino";
import type { GatewayLimits } from "../http/limits";
import { Mutex } from "../lib/mutex";
import type { ArtifactStore } from "./artifactStore";
import type { Absence, Answer, Question } from "./prediction";
import { PredictionThread } from "./predictionThread";

/** Delay between two starts of a thread that fails. */
const againMs = 1_000;

interface DeskOptions {
  readonly artifacts: ArtifactStore;
  readonly limits: Pick<GatewayLimits, "predictionSeconds" | "predictionsWaiting">;
  readonly onBatch: () => void;
  readonly log: Logger;
}

/**
 * Predicts requests in a thread. Other predictors get a new thread: the previous one serves until the new one has loaded them, and then
 * answers its remaining questions.
 */
export class PredictionService {
  readonly #options: DeskOptions;
  readonly #mutex = new Mutex();
  #thread: PredictionThread | null = null;
  /** Predictors that policies name; null: none. */
  #needed: ReadonlySet<string> | null = null;
  #startedMs = Number.NEGATIVE_INFINITY;
  #again: NodeJS.Timeout | undefined;
  /** Whether the latest thread did not start. */
  #startFails = false;
  #closed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Resolves when the predictors needed so far are loaded or have failed. */
  get settled(): Promise<void> {
    return this.#mutex.run(async () => undefined);
  }

  /** Serves with these predictors once they are loaded. Never rejects. */
  need(hashes: ReadonlySet<string> | null): Promise<void> {
    this.#needed = hashes;
    return this.#mutex.run(() => this.#serve(this.#needed));
  }

  /** Loads these in addition to the serving ones, so that no request waits for them once a policy names them. Never rejects. */
  async prepare(hashes: ReadonlySet<string>): Promise<void> {
    if (hashes.size === 0) return;
    return this.#mutex.run(() => this.#serve(new Set([...hashes, ...(this.#needed ?? [])])));
  }

  /** Predictors that policies name and that do not serve, with the reason, except those that are still loading. */
  get lacking(): ReadonlyMap<string, Absence> {
    const lacking = new Map<string, Absence>();
    for (const hash of this.#needed ?? []) {
      const absence = this.#thread?.has(new Set([hash])) ? this.absence(hash) : this.#startFails ? "failed" : null;
      if (absence !== null) lacking.set(hash, absence);
    }
    return lacking;
  }

  /** Reloads a predictor that failed before. Never rejects. */
  async renew(hash: string): Promise<void> {
    if (this.lacking.has(hash)) await this.#mutex.run(() => this.#serve(this.#needed, { again: true }));
  }

  /** Why the artefact cannot be used for answers; null if it can. */
  absence(hash: string): Absence | null {
    return this.#thread === null ? "not-loaded" : this.#thread.absence(hash);
  }

  /** Never rejects. */
  ask(question: Question): Promise<Answer | Absence> {
    return this.#thread?.ask(question) ?? Promise.resolve("loading");
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    this.#thread?.close();
    this.#thread = null;
  }

  async #serve(hashes: ReadonlySet<string> | null, { again = false } = {}): Promise<void> {
    if (this.#closed || (hashes !== null && this.#thread?.has(hashes) && !again)) return;
    const before = this.#thread;
    this.#thread = hashes === null ? null : ((await this.#start(hashes)) ?? before);
    if (this.#thread !== before) before?.close();
    if (this.#closed) this.close();
  }

  async #start(hashes: ReadonlySet<string>): Promise<PredictionThread | null> {
    const { artifacts, limits, onBatch, log } = this.#options;
    this.#startedMs = performance.now();
    let thread: PredictionThread | null = null;
    try {
      thread = await PredictionThread.start({
        artefacts: [...hashes].map((hash) => ({ hash, at: artifacts.pathOf(hash) })),
        encoders: artifacts.encoders,
        mostWaiting: limits.predictionsWaiting,
        limitMs: limits.predictionSeconds * 1000,
        onBatch,
        onGone: () => {
          log.warn("the prediction thread ended and restarts");
          if (this.#thread === thread) this.#thread = null;
          this.#startAgain();
        },
      });
    } catch (err) {
      log.error({ err }, "requests go without predictions");
      this.#startFails = true;
      this.#startAgain();
      return null;
    }
    this.#startFails = false;
    for (const one of thread.loaded) {
      if ("problem" in one) log.error({ artefact: one.hash, reason: one.problem }, "a predictor is missing");
    }
    return thread;
  }

  #startAgain(): void {
    clearTimeout(this.#again);
    const waitMs = Math.max(0, this.#startedMs + againMs - performance.now());
    this.#again = setTimeout(() => void this.need(this.#needed), waitMs).unref();
  }
}

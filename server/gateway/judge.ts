import { Pool } from "undici";
import { Breaker } from "./breaker";
import { CallSlots } from "./callSlots";
import { chatAnswer } from "./chatEndpoint";
import { callEngine, type EngineReply } from "./engineCall";
import { judgePrompt, parseScore } from "./judgePrompt";

export interface JudgeReading {
  /** Null when the judge failed, was too late, rests, or gave no integer from 0 to 100. */
  readonly score: number | null;
  /** Why there is no score. */
  readonly failure: string | null;
}

export interface JudgeOptions {
  readonly model: string;
  readonly url: string;
  /** For one call, and before it for the wait until it may be made. */
  readonly timeoutSeconds: number;
  readonly maxInFlight: number;
}

const aborted: JudgeReading = { score: null, failure: "the request was aborted" };
const rests: JudgeReading = { score: null, failure: "the judge rests after failures in a row" };

/** Asks the judge model for the score of an answer. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #breaker = new Breaker();
  readonly #slots: CallSlots;

  constructor(options: JudgeOptions) {
    const url = new URL(options.url);
    this.#options = options;
    this.#path = `${url.pathname.replace(/\/$/, "")}/v1/chat/completions`;
    this.#pool = new Pool(url.origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: options.timeoutSeconds * 1000 });
    this.#slots = new CallSlots(options.maxInFlight);
  }

  get resting(): boolean {
    return this.#breaker.resting;
  }

  /** The score of an answer. Never rejects; a reading without a score says why. */
  async score(prompt: string, answer: string, signal: AbortSignal): Promise<JudgeReading> {
    if (this.resting) return rests;
    const { maxInFlight, timeoutSeconds } = this.#options;
    // A turn of its own, so that a call which had to wait is not cut short and taken for the judge's failure.
    if (!this.#slots.tryEnter() && !(await within(timeoutSeconds, signal, (limited) => this.#slots.enter(limited)))) {
      return signal.aborted ? aborted : { score: null, failure: `${maxInFlight} judge calls were under way for ${timeoutSeconds} s` };
    }
    try {
      // It may have failed while this one waited for its turn.
      if (!this.#breaker.begin()) return rests;
      const content = judgePrompt(prompt, answer);
      return this.#reading(await within(timeoutSeconds, signal, (limited) => this.#ask(content, limited)), signal);
    } finally {
      this.#slots.leave();
    }
  }

  /** Ends every connection. */
  close(): void {
    void this.#pool.destroy();
  }

  #ask(content: string, signal: AbortSignal): Promise<EngineReply> {
    return callEngine({
      pool: this.#pool,
      path: this.#path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: this.#options.model, messages: [{ role: "user", content }], temperature: 0, max_tokens: 8 }),
      signal,
    });
  }

  #reading(reply: EngineReply, signal: AbortSignal): JudgeReading {
    if (signal.aborted) {
      this.#breaker.gaveUp();
      return aborted;
    }
    const score = reply.kind === "answered" && reply.status === 200 ? scoreOf(reply.body) : null;
    if (score !== null) {
      this.#breaker.succeeded();
      return { score, failure: null };
    }
    this.#breaker.failed();
    return { score, failure: this.#failure(reply) };
  }

  #failure(reply: EngineReply): string {
    if (reply.kind === "aborted") return `no score within ${this.#options.timeoutSeconds} s`;
    if (reply.kind === "failed") return reply.reason;
    return reply.status === 200 ? "the judge gave no integer from 0 to 100" : `the judge answered ${reply.status}`;
  }
}

/** Runs with a signal that fires with `signal` or when the time is over. */
async function within<T>(seconds: number, signal: AbortSignal, run: (limited: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const timer = setTimeout(end, seconds * 1000);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await run(limit.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

function scoreOf(body: Buffer): number | null {
  try {
    return parseScore(chatAnswer(JSON.parse(body.toString("utf8"))) ?? "");
  } catch {
    return null;
  }
}

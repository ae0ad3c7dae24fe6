import { Pool } from "undici";
import { chatAnswer } from "./chatEndpoint";
import { callEngine } from "./engineCall";
import { judgePrompt, parseScore } from "./judgePrompt";

/** After so many failures in a row the judge is not asked for a while, so that requests do not each wait for its timeout. */
const failuresBeforeRest = 3;
const restMs = 5_000;

export interface JudgeReading {
  /** Null when the judge failed, was too late, rests, or gave no integer from 0 to 100. */
  readonly score: number | null;
  /** Why there is no score. */
  readonly failure: string | null;
}

interface JudgeOptions {
  readonly model: string;
  readonly url: string;
  readonly timeoutSeconds: number;
}

/** Asks the judge model for the score of an answer. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #pool: Pool;
  readonly #path: string;
  #failures = 0;
  #restsUntilMs = 0;

  constructor(options: JudgeOptions) {
    const url = new URL(options.url);
    this.#options = options;
    this.#path = `${url.pathname.replace(/\/$/, "")}/v1/chat/completions`;
    this.#pool = new Pool(url.origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: options.timeoutSeconds * 1000 });
  }

  get resting(): boolean {
    return performance.now() < this.#restsUntilMs;
  }

  /** The score of an answer. Never rejects; a reading without a score says why. */
  async score(prompt: string, answer: string, signal: AbortSignal): Promise<JudgeReading> {
    if (this.resting) return { score: null, failure: "the judge rests after failures in a row" };
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#options.timeoutSeconds * 1000);
    const onAbort = (): void => deadline.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    const reply = await callEngine({
      pool: this.#pool,
      path: this.#path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: this.#options.model,
        messages: [{ role: "user", content: judgePrompt(prompt, answer) }],
        temperature: 0,
        max_tokens: 8,
      }),
      signal: deadline.signal,
    });
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    if (signal.aborted) return { score: null, failure: "the request was aborted" };
    if (reply.kind === "aborted") return this.#failed(`no score within ${this.#options.timeoutSeconds} s`);
    if (reply.kind === "failed") return this.#failed(reply.reason);
    if (reply.status !== 200) return this.#failed(`the judge answered ${reply.status}`);
    const score = scoreOf(reply.body);
    if (score === null) return this.#failed("the judge gave no integer from 0 to 100");
    this.#failures = 0;
    return { score, failure: null };
  }

  /** Ends every connection. */
  close(): void {
    void this.#pool.destroy();
  }

  #failed(failure: string): JudgeReading {
    this.#failures += 1;
    if (this.#failures >= failuresBeforeRest) {
      this.#failures = 0;
      this.#restsUntilMs = performance.now() + restMs;
    }
    return { score: null, failure };
  }
}

function scoreOf(body: Buffer): number | null {
  try {
    return parseScore(chatAnswer(JSON.parse(body.toString("utf8"))) ?? "");
  } catch {
    return null;
  }
}

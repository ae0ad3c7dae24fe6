import { setTimeout as sleep } from "node:timers/promises";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import { seededRandom } from "@/solver/numeric/random";
import type { ArithmeticQuestion } from "@/solver/prompts/arithmeticQuestion";
import { Clients, type Reply } from "../faults/clients";

/** A client's request with all its attempts. */
export interface Asked {
  readonly question: number;
  /** Attempts whose connection failed, or broke before the answer was whole. */
  readonly lost: number;
  /** Attempts that the gateway answered with 429 or 5xx. */
  readonly refused: number;
  /** The text of the answer; null: none came in the window. */
  readonly answer: string | null;
  /** What the last attempt got instead; empty for an answer. */
  readonly said: string;
  readonly seconds: number;
}

/** OpenAI's client libraries wait between attempts for half a second, then twice as long each time, 8 s at most. */
const firstWaitMs = 500;
const longestWaitMs = 8_000;

/** A client gives a request up when it is not answered after this time; OpenAI's libraries give up after two retries or ten minutes. */
const windowSeconds = 120;

const mostTokens = 16;

export interface QuestionLoad {
  readonly gatewayUrl: string;
  readonly questions: readonly ArithmeticQuestion[];
  readonly requestsPerSecond: number;
  readonly seed: number;
}

/** Clients that ask arithmetic questions at Poisson arrivals, whether or not earlier ones were answered, and try failed ones again. */
export class AskedQuestions {
  readonly asked: Asked[] = [];
  readonly #clients: Clients;
  readonly #load: QuestionLoad;
  readonly #sending: Promise<void>;
  #sent = 0;
  #ended = false;

  constructor(load: QuestionLoad) {
    this.#load = load;
    this.#clients = new Clients(load.gatewayUrl);
    this.#sending = this.#send();
  }

  get sent(): number {
    return this.#sent;
  }

  /** Sends no more and waits for every answer. */
  async end(): Promise<readonly Asked[]> {
    this.#ended = true;
    await this.#sending;
    this.#clients.close();
    return this.asked;
  }

  async #send(): Promise<void> {
    const { requestsPerSecond, questions, seed } = this.#load;
    const random = seededRandom(seed);
    const pending = new Set<Promise<void>>();
    for (let dueMs = performance.now(); !this.#ended; ) {
      dueMs += (-Math.log(1 - random.next()) / requestsPerSecond) * 1000;
      await sleep(Math.max(0, dueMs - performance.now()));
      const asking = this.#ask(random.int(questions.length)).finally(() => pending.delete(asking));
      pending.add(asking);
      this.#sent += 1;
    }
    await Promise.all(pending);
  }

  async #ask(question: number): Promise<void> {
    const startedMs = performance.now();
    const seconds = (): number => (performance.now() - startedMs) / 1000;
    const tally = { lost: 0, refused: 0 };
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, 2 * waitMs)) {
      const reply = await this.#clients.chat({
        ...{ model: defaultCascade, prompt: this.#load.questions[question]?.text ?? "", stream: false, streaming: "buffer" },
        ...{ mostTokens, temperature: 0, leaveAfterMs: Math.max(1, 1000 * (windowSeconds - seconds())) },
      });
      if (reply.outcome === "answered") {
        this.asked.push({ question, ...tally, answer: answerOf(reply), said: "", seconds: seconds() });
        return;
      }
      if (reply.outcome === "lost") tally.lost += 1;
      else if (reply.outcome !== "left") tally.refused += 1;
      const isOver = reply.outcome === "left" || seconds() + waitMs / 1000 >= windowSeconds || !isWorthRetry(reply);
      if (isOver) {
        this.asked.push({ question, ...tally, answer: null, said: `${reply.outcome} ${reply.status} ${reply.said}`, seconds: seconds() });
        return;
      }
      await sleep(waitMs);
    }
  }
}

/** The rule of OpenAI's libraries. */
const isWorthRetry = ({ outcome, status }: Reply): boolean => outcome === "lost" || status === 429 || status >= 500;

function answerOf({ text }: Reply): string {
  const { choices } = JSON.parse(text) as { choices: readonly { message: { content: string | null }; finish_reason: string }[] };
  const [choice] = choices;
  // An answer that was cut is not the model's own.
  return choice?.finish_reason === "stop" ? (choice.message.content ?? "").trim() : `cut: ${choice?.message.content ?? ""}`;
}

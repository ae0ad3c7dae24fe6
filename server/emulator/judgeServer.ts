import { randomUUID } from "node:crypto";
import type { Server, ServerResponse } from "node:http";
import { Counter, Registry } from "prom-client";
import { trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import { sendError } from "@/server/contracts/http/apiServer";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { ChatRequest } from "./chatRequest";
import { createCompletionWriter } from "./completionWriter";
import { noAnswers } from "./emulatedEngine";
import { emulatedJudgement } from "./emulatedJudgement";
import { createEngineServer } from "./engineServer";
import type { OutcomeTable } from "./outcomeTable";

/** Name under which the emulated judge serves. */
export const JUDGE_MODEL = "weir-judge";

/** Mean engine seconds of one judgement, and their spread. The judge is a service of fixed speed, not a replica. */
const JUDGE_SECONDS = 0.27;
const JUDGE_JITTER_SIGMA = 0.1;

/** A judge on real engines has a context limit too. */
const MAX_MODEL_TOKENS = 131_072;

export interface JudgeOptions {
  readonly timeScale: number;
  /** With the noise off every judgement takes exactly the mean. */
  readonly noise: { readonly enabled: boolean; readonly seed: number };
  readonly outcomes: () => OutcomeTable | null;
}

/**
 * The emulated judge for plans whose judge is none of their engines. Any number of calls run in parallel, each for about `JUDGE_SECONDS`:
 * such a plan also models the judge as a fixed time. Under the name `trustedJudgeModel` it returns the label of the answer, like a trusted
 * judge.
 */
export function createJudgeServer({ timeScale, noise, outcomes }: JudgeOptions): Server {
  const sigma = noise.enabled ? JUDGE_JITTER_SIGMA : 0;
  const random = seededRandom(mixSeed(noise.seed, JUDGE_MODEL));
  const registry = new Registry();
  const judged = new Counter({
    name: "vllm:request_success_total",
    help: "Count of successfully processed requests.",
    labelNames: ["model_name", "engine", "finished_reason"],
    registers: [registry],
  });

  const chat = (response: ServerResponse, request: ChatRequest): void => {
    const book = outcomes();
    if (book === null) {
      sendError(response, noAnswers(book, request.model));
      return;
    }
    const { inputTokens, outputTokens, token } = emulatedJudgement(
      book,
      request.text,
      request.model === trustedJudgeModel ? "label" : "judged",
    );
    const writer = createCompletionWriter(response, {
      id: `chatcmpl-${randomUUID()}`,
      model: request.model,
      createdSeconds: Math.floor(Date.now() / 1000),
      stream: request.stream,
      includeUsage: request.includeUsage,
      promptTokens: inputTokens,
      token,
    });
    const seconds = JUDGE_SECONDS * random.lognormal(-(sigma ** 2) / 2, sigma);
    const timer = setTimeout(
      () => {
        judged.inc({ model_name: request.model, engine: "0", finished_reason: "stop" });
        writer.finish(outputTokens, "stop");
      },
      (seconds * 1000) / timeScale,
    );
    response.on("close", () => clearTimeout(timer));
  };

  return createEngineServer({
    models: [JUDGE_MODEL, trustedJudgeModel],
    unavailable: () => null,
    maxModelTokens: () => MAX_MODEL_TOKENS,
    chat,
    metricsText: () => registry.metrics(),
  });
}

import type { Server, ServerResponse } from "node:http";
import { Counter, Registry } from "prom-client";
import { trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { answerEnd } from "./answerEnd";
import { createAnswerWriter } from "./answerWriter";
import { noAnswers } from "./emulatedEngine";
import { emulatedJudgement } from "./emulatedJudgement";
import { createEngineServer } from "./engineServer";
import type { Generation } from "./generation";
import type { GenerationRequest } from "./generationRequest";
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

  const generate = (response: ServerResponse, request: GenerationRequest, generations: readonly Generation[]): void => {
    const model = request.model ?? JUDGE_MODEL;
    const writer = createAnswerWriter(response, { model, request, generations }, () => undefined);
    const seconds = JUDGE_SECONDS * random.lognormal(-(sigma ** 2) / 2, sigma);
    const timer = setTimeout(
      () => {
        judged.inc({ model_name: model, engine: "0", finished_reason: "stop" });
        for (let choice = 0; choice < generations.length * request.choices; choice++)
          writer.finish(choice, answerEnd(generations[Math.floor(choice / request.choices)] as Generation, request, MAX_MODEL_TOKENS));
      },
      (seconds * 1000) / timeScale,
    );
    response.on("close", () => clearTimeout(timer));
  };

  return createEngineServer({
    models: [JUDGE_MODEL, trustedJudgeModel],
    unavailable: () => null,
    maxModelTokens: () => MAX_MODEL_TOKENS,
    generationOf(prompt, model) {
      const book = outcomes();
      return book === null ? null : emulatedJudgement(book, prompt.text, model === trustedJudgeModel ? "label" : "judged");
    },
    noGeneration: (model) => noAnswers(outcomes(), model),
    generate,
    metricsText: () => registry.metrics(),
  });
}

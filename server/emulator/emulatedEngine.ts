import type { Server } from "node:http";
import type { EmulatedEngine, EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import { type ApiError, STOPPED, shut } from "@/server/contracts/http/apiServer";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { answerToken, readAnswerTag, shownAnswerTokens } from "./emulatedAnswer";
import { emulatedJudgement } from "./emulatedJudgement";
import { syntheticProbabilities } from "./emulatedTokens";
import { createEngineCore } from "./engineCore";
import { createEngineServer } from "./engineServer";
import type { Generation } from "./generation";
import { namedPrompt, type OutcomeRow, type OutcomeTable } from "./outcomeTable";

export interface EngineOptions {
  readonly request: EngineRequest;
  /** Its true speed, and its limits. */
  readonly replicaModel: ReplicaModel;
  readonly maxModelTokens: number;
  readonly timeScale: number;
  /** Wall milliseconds from start to ready. */
  readonly loadMs: number;
  readonly outcomes: () => OutcomeTable | null;
}

/** One emulated engine: an HTTP server, a replica behind it, and its states loading, ready and stopped. */
export interface Engine {
  readonly request: EngineRequest;
  readonly server: Server;
  readonly state: EmulatedEngine["state"];
  /** Share of the loading time that has passed, 0..1. */
  loadedShare(): number;
  load(): { readonly running: number; readonly waiting: number };
  busy(): { readonly busySeconds: number; readonly nowSeconds: number };
  /**
   * Takes no new requests, waits until all are answered or `graceSeconds` of wall time have passed, then aborts the rest. Repeated calls
   * join.
   */
  stop(graceSeconds: number): Promise<void>;
}

/** Interval at which a stopping engine checks whether it is empty. */
const DRAIN_LOOK_MS = 50;

/** Creates an engine that starts to load. It serves once its server listens. */
export function createEngine(options: EngineOptions): Engine {
  const { request, loadMs, outcomes } = options;
  const core = createEngineCore({ ...options, model: request.model });
  const startMs = performance.now();
  let stopped: Promise<void> | null = null;
  /** Wall time at which open requests are aborted. */
  let deadlineMs = Number.POSITIVE_INFINITY;

  const loadedShare = (): number => Math.min(1, (performance.now() - startMs) / loadMs);
  const state = (): EmulatedEngine["state"] => {
    if (stopped !== null) return "stopping";
    return loadedShare() < 1 ? "loading" : "ready";
  };

  const server = createEngineServer({
    models: [request.model],
    unavailable() {
      switch (state()) {
        case "loading":
          return "The engine is loading its weights.";
        case "stopping":
          return "The engine is stopping.";
        case "ready":
          return null;
      }
    },
    maxModelTokens: () => options.maxModelTokens,
    generationOf(prompt) {
      const book = outcomes();
      const generation = book === null ? null : generationOf(book, request.model, prompt.text);
      if (generation === null) return null;
      return prompt.tokens === null ? generation : { ...generation, inputTokens: prompt.tokens };
    },
    noGeneration: () => noAnswers(outcomes(), request.model),
    generate: (response, asked, generations) => core.serve(response, asked, generations),
    metricsText: () => core.metricsText(),
  });

  const drain = async (): Promise<void> => {
    while (core.openRequests() > 0 && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
    core.stop(STOPPED);
    await shut(server);
  };

  return {
    request,
    server,
    get state() {
      return state();
    },
    loadedShare,
    load: () => core.load(),
    busy: () => core.busy(),
    stop(graceSeconds) {
      deadlineMs = Math.min(deadlineMs, performance.now() + graceSeconds * 1000);
      stopped ??= drain();
      return stopped;
    },
  };
}

/** A prompt with answers to aggregate under headings, and not an answer to judge. */
const toAggregate = (text: string): boolean => /^\[answer 1\]$/m.test(text) && !/^\[answer( [AB])?\]$/m.test(text);

/**
 * A model's reply to a text: a score if the text asks for one, a new answer if it contains answers to aggregate, and otherwise the answer
 * in the outcomes. A model without outcomes is a judge, so it scores texts that are none of their prompts; null for one of their prompts.
 */
function generationOf(book: OutcomeTable, model: string, text: string): Generation | null {
  const shown = readAnswerTag(text);
  const aggregated = namedPrompt(text) === null && shown !== null && toAggregate(text);
  const asksForAnswer = namedPrompt(text) !== null || aggregated;
  if (!asksForAnswer && shown !== null) return emulatedJudgement(book, text);
  const row = book.row(model, aggregated ? `[prompt ${shown.promptId}]` : text);
  if (row !== null) return answerOf(row, model, text, book.judged(row.promptId, model));
  return asksForAnswer ? null : emulatedJudgement(book, text);
}

/** A model's answer to a prompt, with the final answer as its last token; emulated answers within the prompt make it longer. */
function answerOf(
  { promptId, inputTokens, outputTokens, answer }: OutcomeRow,
  model: string,
  text: string,
  score: number | null,
): Generation {
  const last = outputTokens < 2 || answer === "" ? -1 : outputTokens - 1;
  return {
    prompt: text,
    inputTokens: inputTokens + shownAnswerTokens(text),
    outputTokens,
    token: (index) => (index === last ? `\nAnswer: ${answer}` : answerToken(promptId, model, index)),
    ...syntheticProbabilities(`${promptId} ${model}`, score === null ? null : { score, tokens: outputTokens }),
  };
}

/** Why an engine without outcomes cannot answer. */
export const noAnswers = (book: OutcomeTable | null, model: string): ApiError => ({
  status: 503,
  type: "ServiceUnavailableError",
  message:
    book === null
      ? "This emulated engine has no prompts to replay: PUT /outcomes on the emulator's admin listener first."
      : `The outcomes "${book.outcomes.name}" have no answers of ${model}.`,
});

import { seededRandom } from "@/solver/numeric/random";
import { createAnswerText } from "./answerText";
import type { BatchJob, Interruption } from "./batcher";
import { chooseToken, queryFor, scoreOf, scoreQuery } from "./chooseToken";
import type { LoadedModel } from "./loadedModel";
import type { Ending, GenerationRequest, Piece, ScoredToken } from "./request";

/** Receives an answer while it is generated. */
export interface GenerationListener {
  onStart(): void;
  /** The prompt is evaluated; `scores` are of its tokens except the first, if they were asked for. */
  onPrompt(scores: readonly ScoredToken[]): void;
  onPiece(piece: Piece): void;
  /** `rest`: text that was held back. */
  onEnd(ending: Ending, rest: string): void;
  onProblem(problem: Interruption): void;
}

/** The batch's job for one request. */
export function createGeneration(
  model: Pick<LoadedModel, "detokenize" | "ends">,
  request: GenerationRequest,
  listener: GenerationListener,
  signal: AbortSignal,
): BatchJob {
  const { prompt, maxTokens, minTokens, sampling, top } = request;
  const random = seededRandom(sampling.seed);
  const text = createAnswerText(model, request.stop);
  const scores: ScoredToken[] = [];
  const tokens: number[] = [];
  let ending: Ending | null = null;

  const endsAt = (token: number): boolean => (!request.ignoreEnd && model.ends(token)) || request.stopTokens.includes(token);
  const mayEnd = (): boolean => tokens.length >= minTokens;

  function add(token: number, score: ScoredToken | null): void {
    const tokenText = model.detokenize([token], tokens.slice(-1), true);
    tokens.push(token);
    // The text of a token that ends the answer is not part of it.
    const isEnd = endsAt(token);
    const added = isEnd ? { text: "", stop: null } : text.add(token, mayEnd());
    listener.onPiece({ text: added.text, token, tokenText, score });
    if (isEnd) ending = { reason: "stop", stop: request.stopTokens.includes(token) ? token : null };
    else if (added.stop !== null) ending = { reason: "stop", stop: added.stop };
    else if (tokens.length >= maxTokens) ending = { reason: "length", stop: null };
  }

  return {
    prompt,
    signal,
    onStart: listener.onStart,
    promptQuery: (index) => (request.scorePrompt ? scoreQuery(prompt[index + 1] ?? 0, top ?? 0) : null),
    onPromptResult: (index, answer) => void scores.push(scoreOf(answer, prompt[index + 1] ?? 0, top ?? 0)),
    query: () => queryFor(request, mayEnd()),
    onResult(answer) {
      if (tokens.length === 0) listener.onPrompt(scores);
      if (maxTokens === 0) {
        ending = { reason: "length", stop: null };
        return null;
      }
      const chosen = chooseToken(answer, { request, random, ends: mayEnd() ? null : endsAt });
      add(chosen.token, chosen.score);
      return ending === null ? chosen.token : null;
    },
    onLeft(problem) {
      if (ending !== null) listener.onEnd(ending, text.rest());
      else listener.onProblem(problem ?? { kind: "failed", error: new Error("The answer has no end.") });
    },
  };
}

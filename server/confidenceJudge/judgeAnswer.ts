import type { JudgedTexts } from "./judgedTexts";
import { scoredPrompt } from "./scoredAnswer";
import { askScore, type Scoring, type ScoringEngine } from "./scoringEngine";

export type Judged =
  | { readonly kind: "judged"; readonly score: number; readonly promptTokens: number }
  | Exclude<Scoring, { readonly kind: "scored" }>;

/** The score of an answer: 100 times the smallest probability that the model gives to a token of it; 0 for texts that it cannot spell. Never throws. */
export async function judgeAnswer(engine: ScoringEngine, texts: JudgedTexts, signal: AbortSignal): Promise<Judged> {
  const prompt = scoredPrompt(texts);
  if (prompt === null) return { kind: "judged", score: 0, promptTokens: 0 };
  const scoring = await askScore(engine, prompt, signal);
  if (scoring.kind !== "scored") return scoring;
  return { kind: "judged", score: Math.round(100 * scoring.probability), promptTokens: prompt.tokens.length };
}

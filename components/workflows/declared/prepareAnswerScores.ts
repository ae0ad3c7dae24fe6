import type { Outcome, ScoredModel } from "@/server/contracts/studio";

/** Which agents' answers a plan can have scored, as far as it is known. */
export interface AnswerScoresQuery {
  readonly data: Outcome<{ readonly scored: readonly ScoredModel[] }> | undefined;
  readonly error: { readonly message: string } | null;
}

/** What scores bring: `bench/results/aragog.md`, "Scores of answers". */
const BRING = "In the mean of modelled cases they bring 0.2 to 0.6 points of accuracy at equal cost.";

/** Whether a just-in-time plan can have its agents' answers scored, and which by what, or why not, in sentences. */
export function prepareAnswerScores({ data, error }: AnswerScoresQuery): { readonly canScore: boolean; readonly says: string } {
  if (data === undefined) return { canScore: false, says: error === null ? "Checking which answers can be scored …" : error.message };
  if (!data.ok) return { canScore: false, says: `Answers cannot be scored. ${data.message}` };
  const scored = data.scored.map(({ model, by }) => `those of ${model} by ${by}`).join(", ");
  return { canScore: true, says: `Agents' answers are scored: ${scored}. Their streams are held back until an answer is whole. ${BRING}` };
}

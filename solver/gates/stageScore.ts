/** What a decision record holds about the score of a stage's answer. */
export interface ScoredStage {
  /** Null where no judge was asked. */
  readonly judgeSeconds: number | null;
  readonly judgedScore: number | null;
  /** Absent if nothing scored the answer, and in records of older gateways, where only the judge did. */
  readonly gate?: { readonly kind: string } | undefined;
  readonly verdict: "accepted" | "escalated" | "failed";
}

/** Whether a stage's answer needed a score, got none and was accepted nevertheless: the quality floor does not cover it. */
export const isUnjudged = ({ judgeSeconds, judgedScore, gate, verdict }: ScoredStage): boolean =>
  (judgeSeconds !== null || gate !== undefined) && judgedScore === null && verdict === "accepted";

/** Whether the judge gave a stage's answer a score: a call that is paid. */
export const isScoredByJudge = ({ judgeSeconds, judgedScore }: Pick<ScoredStage, "judgeSeconds" | "judgedScore">): boolean =>
  judgeSeconds !== null && judgedScore !== null;

/** The score of an answer that the judge alone scored; null for others, whose scores are not compared with a judge's. */
export const judgeScoreOf = ({ judgedScore, gate }: Pick<ScoredStage, "judgedScore" | "gate">): number | null =>
  gate === undefined || gate.kind === "judge" ? judgedScore : null;

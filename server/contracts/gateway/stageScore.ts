import type { StageRecord } from "./gatewayAdmin";

/** Whether a stage's answer needed a score, got none and was accepted nevertheless: the quality floor does not cover it. */
export const isUnjudged = ({ judgeSeconds, judgedScore, gate, verdict }: Pick<StageRecord, ScoreFields>): boolean =>
  (judgeSeconds !== null || gate !== undefined) && judgedScore === null && verdict === "accepted";

type ScoreFields = "judgeSeconds" | "judgedScore" | "gate" | "verdict";

/** Whether the judge gave a stage's answer a score: a call that is paid. */
export const isScoredByJudge = ({ judgeSeconds, judgedScore }: Pick<StageRecord, ScoreFields>): boolean =>
  judgeSeconds !== null && judgedScore !== null;

/** The score of an answer that the judge alone scored; null for others, whose scores are not compared with a judge's. */
export const judgeScoreOf = ({ judgedScore, gate }: Pick<StageRecord, ScoreFields>): number | null =>
  gate === undefined || gate.kind === "judge" ? judgedScore : null;

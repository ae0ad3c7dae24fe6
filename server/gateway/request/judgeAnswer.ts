import type { RefusalCause } from "@/solver/policies/core/policy";
import type { StageOutcome } from "../engines/stageOutcome";
import type { ModelRequest } from "../http/modelRequest";
import type { JudgeReading } from "../judge/judge";
import type { Judgement, Work } from "../queue/waitingEntry";
import type { ServedModel } from "../serving/servedModel";
import type { Finding, RequestJournal } from "./requestJournal";

interface AnsweredStage {
  readonly asked: ModelRequest;
  readonly served: ServedModel;
  readonly work: Work;
  readonly signal: AbortSignal;
  readonly journal: RequestJournal;
}

export type JudgedAnswer =
  /** The engine's answer holds no text to judge. */
  | { readonly kind: "nothing-to-judge" }
  | { readonly kind: "refused"; readonly cause: RefusalCause; readonly reason: string; readonly note: JudgeNote }
  | { readonly kind: "aborted"; readonly note: JudgeNote }
  | (Extract<Judgement, { kind: "accept" | "escalate" }> & { readonly note: JudgeNote });

/** The judge's part of the decision record. */
type JudgeNote = Pick<Finding, "reason" | "detail" | "judgeMs" | "score" | "unscored" | "judgedSeconds">;

const noJudge: JudgeReading = { score: null, failure: "no judge is configured", outcome: "unavailable" };

/** Gets the judge's score of an answer and passes it to the policy, which accepts or escalates. */
export async function judgeAnswer(
  { completion }: Extract<StageOutcome, { kind: "answered" }>,
  { asked, served: { judge, driver }, work, signal, journal }: AnsweredStage,
): Promise<JudgedAnswer> {
  const { text } = asked.endpoint;
  const answer = text?.answer(completion) ?? null;
  if (text === null || answer === null) return { kind: "nothing-to-judge" };
  const startedMs = performance.now();
  const { score, failure, outcome } = judge ? await judge.score(text.prompt(asked.body), answer, signal) : noJudge;
  const judgeMs = performance.now() - startedMs;
  const found = { judgeMs, score, ...(outcome !== "scored" && { unscored: outcome }) };
  journal.judgeMs += judgeMs;
  journal.judgedScore = score;
  const verdict = await driver.judged(work, { judgedScore: score, signal });
  if (verdict.kind === "aborted") return { ...verdict, note: { ...found, reason: "aborted while judged" } };
  if (score === null) journal.degrade("judge");
  if (verdict.kind === "refused") return { ...verdict, note: { ...found, reason: verdict.reason } };
  const { reason, judgedSeconds } = verdict;
  return { ...verdict, note: { ...found, reason, ...(failure !== null && { detail: failure }), judgedSeconds } };
}

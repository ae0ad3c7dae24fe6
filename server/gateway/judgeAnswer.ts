import type { JudgeReading } from "./judge";
import type { PolicyDriver } from "./policyDriver";
import type { RequestJournal } from "./requestJournal";
import type { ServedModel } from "./servedModel";

interface Exchange {
  readonly prompt: string;
  readonly answer: string;
  readonly work: Parameters<PolicyDriver["judged"]>[0];
  readonly signal: AbortSignal;
}

const noJudge: JudgeReading = { score: null, failure: "no judge is configured", outcome: "resting" };

/** Has an answer judged and asks the policy what becomes of it; what is found is for the record. */
export async function judgeAnswer({ prompt, answer, work, signal }: Exchange, { driver, judge }: ServedModel, journal: RequestJournal) {
  const startedMs = performance.now();
  const { score, failure, outcome } = judge ? await judge.score(prompt, answer, signal) : noJudge;
  const judgeMs = performance.now() - startedMs;
  const found = { judgeMs, score, ...(outcome !== "scored" && { unscored: outcome }) };
  journal.judgeMs += judgeMs;
  journal.judgedScore = score;
  const verdict = await driver.judged(work, { judgedScore: score, signal });
  if (verdict.kind === "aborted") return { verdict, reason: "aborted while judged", ...found };
  if (score === null) journal.degrade("judge");
  if (verdict.kind === "refused") return { verdict, reason: verdict.reason, ...found };
  const reason = failure === null ? verdict.reason : `${verdict.reason}: ${failure}`;
  return { verdict, reason, ...found, judgedSeconds: verdict.judgedSeconds };
}

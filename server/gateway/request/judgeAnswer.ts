import type { AnswerGate, GatedAnswer, GateFinding } from "../gates/answerGate";
import { finishReasonsOf } from "../http/finishReasons";
import { usageOf } from "../http/usage";
import type { Judgement, Work } from "../queue/waitingEntry";
import type { ServedModel } from "../serving/servedModel";
import type { RequestJournal } from "./requestJournal";
import type { Finding } from "./stageRecords";

interface GatedStage extends GatedAnswer {
  readonly gate: AnswerGate;
  /** Whether it is an agent's answer, which is accepted whatever its score. */
  readonly isCall: boolean;
  readonly served: ServedModel;
  readonly work: Work;
  readonly journal: RequestJournal;
}

/** What the policy decides on an answer, and its note for the record. */
export interface JudgedAnswer {
  readonly judgement: Judgement;
  readonly finding: Finding;
}

/**
 * Gets the score of an answer from its stage's gate and passes it to the policy, which accepts or escalates.
 * @returns null if the engine's answer holds no text to judge.
 */
export async function judgeAnswer(stage: GatedStage): Promise<JudgedAnswer | null> {
  const { gate, isCall, served, work, journal, signal } = stage;
  const read = (await gate.read(stage)) ?? (isCall ? withoutText(gate) : null);
  if (read === null) return null;
  journal.judgeMs += read.ms;
  journal.judgedScore = read.score;
  const judgement = await served.driver.judged(work, { judgedScore: read.score, signal });
  if (judgement.kind !== "aborted") {
    // An agent's answer is given to its client as it is, with a score or without.
    if (read.score === null && !isCall) journal.degrade(read.isJudgeMissing ? "judge" : "gate");
    if (judgement.kind !== "refused" && judgement.grace !== undefined) journal.graced(judgement.grace);
  }
  return { judgement, finding: findingOf(judgement, read, stage) };
}

function findingOf(judgement: Judgement, read: GateFinding, { answered: { completion } }: GatedStage): Finding {
  const { kind, score, ms, raw, calls, judgeMs, unscored, detail } = read;
  const { inputTokens, outputTokens, cachedTokens } = usageOf(completion);
  const isVerdict = judgement.kind === "accept" || judgement.kind === "escalate";
  return {
    verdict: judgement.kind === "accept" ? "accepted" : judgement.kind === "aborted" ? "failed" : "escalated",
    reason: judgement.kind === "aborted" ? "aborted while judged" : judgement.reason,
    detail: isVerdict ? detail : undefined,
    failure: judgement.kind === "aborted" ? "ended" : undefined,
    finishReasons: finishReasonsOf(completion),
    inputTokens,
    outputTokens,
    cachedTokens,
    judgeMs,
    gate: { kind, ms, raw, calls },
    score,
    unscored,
    judgedSeconds: isVerdict ? judgement.judgedSeconds : undefined,
    gain: isVerdict ? judgement.gain : undefined,
    grace: isVerdict ? judgement.grace : undefined,
  };
}

/** An agent may answer by a call of a tool alone, which its gate does not read. */
const withoutText = ({ kind }: AnswerGate): GateFinding => ({ kind, score: null, isJudgeMissing: false, ms: 0, raw: [] });

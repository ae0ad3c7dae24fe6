import type { RefusalCause } from "@/solver/policies/core/policy";
import type { AnswerGate, GatedAnswer, GateFinding } from "../gates/answerGate";
import type { Judgement, Work } from "../queue/waitingEntry";
import type { ServedModel } from "../serving/servedModel";
import type { Finding, RequestJournal } from "./requestJournal";

interface GatedStage extends GatedAnswer {
  readonly gate: AnswerGate;
  /** Whether it is an agent's answer, which is accepted whatever its score. */
  readonly isCall: boolean;
  readonly served: ServedModel;
  readonly work: Work;
  readonly journal: RequestJournal;
}

export type JudgedAnswer =
  /** The engine's answer holds no text to judge. */
  | { readonly kind: "nothing-to-judge" }
  | { readonly kind: "refused"; readonly cause: RefusalCause; readonly reason: string; readonly note: GateNote }
  | { readonly kind: "aborted"; readonly note: GateNote }
  | (Extract<Judgement, { kind: "accept" | "escalate" }> & { readonly note: GateNote });

/** The gate's part of the decision record. */
type GateNote = Pick<Finding, "reason" | "detail" | "judgeMs" | "score" | "unscored" | "judgedSeconds" | "gate" | "gain" | "grace">;

/** Gets the score of an answer from its stage's gate and passes it to the policy, which accepts or escalates. */
export async function judgeAnswer({ gate, isCall, served, work, journal, ...answer }: GatedStage): Promise<JudgedAnswer> {
  const { signal } = answer;
  const finding = (await gate.read(answer)) ?? (isCall ? withoutText(gate) : null);
  if (finding === null) return { kind: "nothing-to-judge" };
  const { kind, score, ms, calls, raw, detail, judgeMs, unscored } = finding;
  const found = {
    gate: { kind, ms, raw, ...(calls && { calls }) },
    score,
    ...(judgeMs !== undefined && { judgeMs }),
    ...(unscored !== undefined && { unscored }),
  };
  journal.judgeMs += ms;
  journal.judgedScore = score;
  const verdict = await served.driver.judged(work, { judgedScore: score, signal });
  if (verdict.kind === "aborted") return { ...verdict, note: { ...found, reason: "aborted while judged" } };
  // An agent's answer is given to its client as it is, with a score or without.
  if (score === null && !isCall) journal.degrade(finding.isJudgeMissing ? "judge" : "gate");
  if (verdict.kind === "refused") return { ...verdict, note: { ...found, reason: verdict.reason } };
  const { reason, judgedSeconds, gain, grace } = verdict;
  if (grace !== undefined) journal.graced(grace);
  return {
    ...verdict,
    note: {
      ...{ ...found, reason, judgedSeconds },
      ...(detail !== undefined && { detail }),
      ...(gain !== undefined && { gain }),
      ...(grace !== undefined && { grace }),
    },
  };
}

/** An agent may answer by a call of a tool alone, which its gate does not read. */
const withoutText = ({ kind }: AnswerGate): GateFinding => ({ kind, score: null, isJudgeMissing: false, ms: 0, raw: [] });

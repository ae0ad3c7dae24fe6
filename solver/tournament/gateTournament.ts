import type { ConfidenceReading } from "@/solver/gates/gateDocument";
import { tableScores, textScorerOf, trainTableScorer } from "@/solver/stageGates/tableScorer";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import type { GateSignal, StageAnswers } from "./gateSignal";
import { type StageResult, stageTournament } from "./stageTournament";
import { LEAST_HELD_OUT } from "./tournamentLimits";

export interface TournamentOptions {
  /** Share of answers sent on at which gates are compared with random escalation, 0..1. */
  readonly share: number;
  /** Time of one judge call; null where it is not known. */
  readonly judgeSeconds: number | null;
}

export interface GateTournament {
  readonly share: number;
  readonly planningPrompts: number;
  readonly heldOutPrompts: number;
  /** What the columns of confidence hold; left out where the workload does not say so. */
  readonly confidence?: ConfidenceReading;
  /** One per model of the ladder but the last. */
  readonly stages: readonly StageResult[];
}

/**
 * A tournament of gates on a workload: for each stage the gates whose scores its table has (judge, confidence, agreement, a scorer that was
 * trained on texts), and a scorer of the other columns that is trained on the planning prompts. Calibrated on the planning prompts, measured on the held-out ones.
 *
 * @returns null below 20 held-out prompts.
 */
export function gateTournament(workload: Workload, { share, judgeSeconds }: TournamentOptions): GateTournament | null {
  const { outcomes, judge, origin, seed } = workload;
  const split = splitPrompts(outcomes.promptIds.length, seed);
  if (split.heldOut.length < LEAST_HELD_OUT) return null;
  const stages = outcomes.models.slice(0, -1).map((own, stage) => {
    const next = outcomes.models[stage + 1] ?? own;
    const answers: StageAnswers = { model: own.model, next: next.model, label: own.label, nextLabel: next.label };
    const signals = [
      judgeSignal(own, outcomes.inputTokens, { modelled: judge.kind === "modelled", seconds: judgeSeconds }),
      ...columnSignals(own),
      ...scorerSignals(workload, own),
    ];
    return stageTournament(answers, signals, { split, share, seed });
  });
  const { confidence } = origin;
  const prompts = { planningPrompts: split.planning.length, heldOutPrompts: split.heldOut.length };
  return { share, ...prompts, ...(confidence === undefined ? {} : { confidence }), stages };
}

/** A judge reads prompt and answer. What its own instruction and reply add is not in the table. */
function judgeSignal(
  { judged, outputTokens }: ModelOutcomes,
  inputTokens: Int32Array,
  { modelled, seconds }: { readonly modelled: boolean; readonly seconds: number | null },
): GateSignal {
  const tokens = inputTokens.reduce((sum, input, at) => sum + input + (outputTokens[at] ?? 0), 0) / inputTokens.length;
  return { kind: "judge", name: "judge", modelled, raw: judged, cost: { extraTokens: tokens, extraSeconds: seconds } };
}

function columnSignals({ confidence, agreement }: ModelOutcomes): readonly GateSignal[] {
  const free = { extraTokens: 0, extraSeconds: 0 };
  // The table does not hold how many further answers were compared.
  const calls = { extraTokens: null, extraSeconds: null };
  return [
    ...(confidence === undefined
      ? []
      : [{ kind: "confidence", name: "confidence", modelled: false, raw: confidence, cost: free } as const]),
    ...(agreement === undefined ? [] : [{ kind: "agreement", name: "agreement", modelled: false, raw: agreement, cost: calls } as const]),
  ];
}

/** A scorer of what a table knows of an answer: its length, the prompt's, and its confidence; and the workload's own, which reads words too. */
function scorerSignals(workload: Workload, own: ModelOutcomes): readonly GateSignal[] {
  const free = { kind: "scorer", modelled: false, cost: { extraTokens: 0, extraSeconds: 0 } } as const;
  const scorer = trainTableScorer(workload, own);
  const withWords = textScorerOf(workload, own);
  return [
    { ...free, name: "scorer", raw: tableScores(workload, own, { scorer }), scorer },
    ...(withWords === null || own.scorer === undefined ? [] : [{ ...free, name: "scorer with words", raw: own.scorer, scorer: withWords }]),
  ];
}

import type { ComparedAnswers, ConfidenceReading } from "@/solver/gates/gateDocument";
import { tableScores, textScorerOf, trainTableScorer } from "@/solver/stageGates/tableScorer";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import type { GateSignal, StageAnswers } from "./gateSignal";
import { sequenceSignal } from "./sequenceSignal";
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
  /** What the columns of agreement compare; left out where the workload does not say so. */
  readonly agreement?: ComparedAnswers;
  /** One per model of the ladder but the last. */
  readonly stages: readonly StageResult[];
}

/**
 * A tournament of gates on a workload: for each stage the gates whose scores its table has (judge, confidence, agreement, a scorer that was
 * trained on texts), a scorer of the other columns that is trained on the planning prompts, and a sequence of confidence and judge where both
 * are measured. Calibrated on the planning prompts, measured on the held-out ones.
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
      ...columnSignals(workload, own),
      ...scorerSignals(workload, own),
      ...[sequenceSignal(workload, own, { split, judgeSeconds })].filter((signal) => signal !== null),
    ];
    return stageTournament(answers, signals, { split, share, seed });
  });
  const { confidence, agreement } = origin;
  const stated = { ...(confidence === undefined ? {} : { confidence }), ...(agreement === undefined ? {} : { agreement }) };
  const prompts = { planningPrompts: split.planning.length, heldOutPrompts: split.heldOut.length };
  return { share, ...prompts, ...stated, stages };
}

/** A judge reads prompt and answer. What its own instruction and reply add is not in the table. */
function judgeSignal(
  own: ModelOutcomes,
  inputTokens: Int32Array,
  { modelled, seconds }: { readonly modelled: boolean; readonly seconds: number | null },
): GateSignal {
  const cost = { extraTokens: tokensOf(own, inputTokens), extraSeconds: seconds };
  return { kind: "judge", name: "judge", modelled, raw: own.judged, cost };
}

function columnSignals(workload: Workload, own: ModelOutcomes): readonly GateSignal[] {
  const { confidence, agreement } = own;
  const free = { extraTokens: 0, extraSeconds: 0 };
  // Further answers are written beside the answer itself: how long one waits for the last of them is not in the table.
  const calls = { extraTokens: furtherTokens(workload, own), extraSeconds: null };
  return [
    ...(confidence === undefined
      ? []
      : [{ kind: "confidence", name: "confidence", modelled: false, raw: confidence, cost: free } as const]),
    ...(agreement === undefined ? [] : [{ kind: "agreement", name: "agreement", modelled: false, raw: agreement, cost: calls } as const]),
  ];
}

/**
 * Tokens that the further answers of agreement read and write for an answer, on average, counted as the judge's are: samples are as long as the
 * model's own answers, peers' answers as in the table. null where it is not known what was compared, or the table has no answers of a peer.
 */
function furtherTokens({ outcomes, origin }: Workload, own: ModelOutcomes): number | null {
  if (origin.agreement === undefined) return null;
  const { samples, peers = [] } = origin.agreement;
  const answered = [...Array<ModelOutcomes>(samples?.count ?? 0).fill(own)];
  for (const peer of peers) {
    const column = outcomes.models.find(({ model }) => model === peer);
    if (column === undefined) return null;
    answered.push(column);
  }
  return answered.reduce((sum, column) => sum + tokensOf(column, outcomes.inputTokens), 0);
}

/** Tokens of prompt and answer, on average. */
const tokensOf = ({ outputTokens }: ModelOutcomes, inputTokens: Int32Array): number =>
  inputTokens.reduce((sum, input, at) => sum + input + (outputTokens[at] ?? 0), 0) / inputTokens.length;

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

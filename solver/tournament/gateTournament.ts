import type { ScorerFeature } from "@/solver/gates/gateDocument";
import { mixSeed } from "@/solver/numeric/random";
import { crossFittedScores, type ScorerRows, scoresOf, trainScorer } from "@/solver/prediction/gateScorer";
import { type PromptSplit, splitPrompts } from "@/solver/workload/split";
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
  /** One per model of the ladder but the last. */
  readonly stages: readonly StageResult[];
}

const FOLDS = 5;

/**
 * A tournament of gates on a workload: for each stage the gates whose scores its table has (judge, confidence, agreement), and a scorer that
 * is trained on the planning prompts. Calibrated on the planning prompts, measured on the held-out ones.
 *
 * @returns null below 20 held-out prompts.
 */
export function gateTournament({ outcomes, judge, seed }: Workload, { share, judgeSeconds }: TournamentOptions): GateTournament | null {
  const split = splitPrompts(outcomes.promptIds.length, seed);
  if (split.heldOut.length < LEAST_HELD_OUT) return null;
  const stages = outcomes.models.slice(0, -1).map((own, stage) => {
    const next = outcomes.models[stage + 1] ?? own;
    const answers: StageAnswers = { model: own.model, next: next.model, label: own.label, nextLabel: next.label };
    const signals = [
      judgeSignal(own, outcomes.inputTokens, { modelled: judge.kind === "modelled", seconds: judgeSeconds }),
      ...columnSignals(own),
      scorerSignal(own, outcomes.inputTokens, { split, seed: mixSeed(seed, `scorer of ${own.model}`) }),
    ];
    return stageTournament(answers, signals, { split, share, seed });
  });
  return { share, planningPrompts: split.planning.length, heldOutPrompts: split.heldOut.length, stages };
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

/** A scorer of what a table knows of an answer: its length, the prompt's, and its confidence. */
function scorerSignal(
  { label, outputTokens, confidence }: ModelOutcomes,
  inputTokens: Int32Array,
  { split, seed }: { readonly split: PromptSplit; readonly seed: number },
): GateSignal {
  const features: ScorerFeature[] = ["log-answer-tokens", "log-prompt-tokens"];
  if (confidence !== undefined) features.push("minimum-probability");
  const rowsOf = (rows: Int32Array): ScorerRows => ({
    features,
    facts: Array.from(rows, (row) => [
      Math.log1p(outputTokens[row] ?? 0),
      Math.log1p(inputTokens[row] ?? 0),
      ...(confidence === undefined ? [] : [(confidence[row] ?? 0) / 100]),
    ]),
    labels: Float64Array.from(rows, (row) => label[row] ?? 0),
  });
  const raw = scorerScores(rowsOf, { split, seed });
  const scorer = trainScorer(rowsOf(split.planning), seed);
  return { kind: "scorer", name: "scorer", modelled: false, raw, cost: { extraTokens: 0, extraSeconds: 0 }, scorer };
}

/** Scores of every prompt: of planning prompts cross-fitted, of held-out ones by the scorer that is trained on the planning prompts. */
export function scorerScores(
  rowsOf: (rows: Int32Array) => ScorerRows,
  { split: { planning, heldOut }, seed }: { readonly split: PromptSplit; readonly seed: number },
): Float64Array {
  const learnt = rowsOf(planning);
  const raw = new Float64Array(planning.length + heldOut.length);
  for (const [at, score] of crossFittedScores(learnt, { folds: FOLDS, seed }).entries()) raw[planning[at] ?? 0] = score;
  for (const [at, score] of scoresOf(trainScorer(learnt, seed), rowsOf(heldOut)).entries()) raw[heldOut[at] ?? 0] = score;
  return raw;
}

import type { WorkloadSummary } from "@/server/contracts/studio";
import type { SignalKind } from "@/solver/tournament/gateSignal";
import type { GateFigures, StageFigures, TournamentFigures } from "@/solver/tournament/tournamentFigures";
import { LEAST_HELD_OUT } from "@/solver/tournament/tournamentLimits";
import { costText, heldOutText, intervalText, noTournamentText, verdictText } from "@/solver/tournament/tournamentText";
import type { Tone } from "../ui/Badge";
import { ABSENT, formatScore } from "../ui/format";

/** Letter and line by which tables and charts show a gate. */
export interface GateMark {
  readonly letter: string;
  /** CSS colour. */
  readonly hue: string;
  /** SVG dash array; empty: a solid line. Modelled gates are dashed. */
  readonly dash: string;
}

export interface GateRow extends GateMark {
  readonly name: string;
  readonly modelled: boolean;
  /** Whether its reliability is drawn. */
  readonly chosen: boolean;
  readonly auc: string;
  readonly rawError: string;
  readonly error: string;
  readonly area: string;
  readonly overRandom: string;
  readonly cost: string;
}

export interface StageView {
  readonly key: string;
  readonly title: string;
  /** Qualities of both models and the number of answers. */
  readonly about: string;
  readonly verdict: { readonly text: string; readonly tone: Tone };
  readonly rows: readonly GateRow[];
  readonly figures: StageFigures;
  /** The gate whose reliability is drawn; null: there is no gate. */
  readonly chosen: GateFigures | null;
}

export interface GatesView {
  readonly heldOut: string;
  readonly stages: readonly StageView[];
}

const marks: Readonly<Record<SignalKind, Pick<GateMark, "letter" | "hue">>> = {
  judge: { letter: "J", hue: "var(--ink-2)" },
  confidence: { letter: "C", hue: "var(--accent)" },
  agreement: { letter: "A", hue: "var(--good)" },
  scorer: { letter: "S", hue: "var(--warn)" },
  sequence: { letter: "Q", hue: "var(--model-f)" },
  router: { letter: "R", hue: "var(--model-h)" },
};

/** Of a scorer that reads words, which is compared with one that does not. */
const wordsMark = { letter: "W", hue: "var(--model-g)" };

export const markOf = ({ kind, modelled, scorer }: Pick<GateFigures, "kind" | "modelled" | "scorer">): GateMark => ({
  ...(scorer?.words === undefined ? marks[kind] : wordsMark),
  dash: modelled ? "4 4" : "",
});

/**
 * Tables and verdicts of a tournament of gates.
 *
 * @param choice `gate`: name of the gate whose reliability is drawn; `judgeSeconds`: time of one judge call, null where it is not known.
 */
export function prepareGates(
  tournament: TournamentFigures,
  choice: { readonly gate: string | null; readonly judgeSeconds: number | null },
): GatesView {
  return {
    heldOut: heldOutText(tournament),
    stages: tournament.stages.map((figures): StageView => {
      const { model, next, quality, nextQuality, heldOutAnswers, gates } = figures;
      const chosen = gates.find(({ name }) => name === choice.gate) ?? gates[0] ?? null;
      return {
        key: model,
        title: `Answers of ${model}, sent on to ${next}`,
        about: `quality ${formatScore(quality)}, next ${formatScore(nextQuality)}, of ${heldOutAnswers} held-out answers`,
        verdict: { text: verdictText(figures), tone: toneOf(figures) },
        rows: gates.map((gate) => rowOf(gate, { chosen: gate === chosen, judgeSeconds: choice.judgeSeconds })),
        ...{ figures, chosen },
      };
    }),
  };
}

function toneOf({ verdict, gates }: StageFigures): Tone {
  if (verdict.kind !== "winner") return "neutral";
  return gates.find(({ name }) => name === verdict.gate)?.modelled ? "hatched" : "good";
}

function rowOf(gate: GateFigures, { chosen, judgeSeconds }: { readonly chosen: boolean; readonly judgeSeconds: number | null }): GateRow {
  const { kind, name, modelled, auc, rawCalibrationError, calibrationError, riskCoverage, overRandom, cost } = gate;
  // A sequence asks the judge about some answers, the judge itself about all.
  const judgeTime = judgeSeconds === null ? null : (cost.judgedShare ?? 1) * judgeSeconds;
  return {
    ...markOf(gate),
    ...{ name, modelled, chosen },
    auc: auc === null ? ABSENT : intervalText(auc, 2),
    rawError: formatScore(rawCalibrationError),
    error: formatScore(calibrationError),
    area: intervalText(riskCoverage.area, 1),
    overRandom: intervalText(overRandom, 1),
    cost: costText(kind === "judge" || kind === "sequence" ? { ...cost, extraSeconds: judgeTime } : cost),
  };
}

/** Why a workload's gates cannot be compared, in a sentence; null: they can. */
export function noGatesText({
  models,
  prompts,
  heldOutPrompts,
}: Pick<WorkloadSummary, "models" | "prompts" | "heldOutPrompts">): string | null {
  if (models.length >= 2 && heldOutPrompts >= LEAST_HELD_OUT) return null;
  return noTournamentText({ models: models.length, prompts });
}

/** What the figures of the judge's row rest on where its scores are modelled; null: they are measured. */
export function modelledText({ kind, auc }: WorkloadSummary["judge"]): string | null {
  if (kind === "measured") return null;
  const reliability = auc === null ? "a chosen AUC" : `an AUC of ${auc.toFixed(2)}`;
  return `The judge is modelled: its scores are drawn from the labels with ${reliability}. Its rows show what such a judge does, not what yours does.`;
}

/** Whether the workload has scores that an engine or further answers gave. */
export const hasColumns = ({ stages }: TournamentFigures): boolean =>
  stages.some(({ gates }) => gates.some(({ kind }) => kind === "confidence" || kind === "agreement"));

import { expectedCalibrationError } from "@/solver/gates/gates";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { overRandomEscalation } from "@/solver/tournament/escalation";
import type { GateSignal, StageAnswers } from "@/solver/tournament/gateSignal";
import { stageTournament, type Verdict } from "@/solver/tournament/stageTournament";
import { type PromptSplit, splitPrompts } from "@/solver/workload/split";
import { heldFloor } from "./heldFloor";

/** Splits into planning and held-out questions; each has its own trained gates and modelled judges. */
export const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

/** A split, and the seed of what is drawn or trained with it. */
export interface Drawn {
  readonly split: PromptSplit;
  readonly seed: number;
}

/** The answers of a stage and the gates to compare on them. */
export interface GateComparison {
  readonly name: string;
  readonly stage: StageAnswers;
  /** Mean qualities of what is served, 0..100, that thresholds are to hold. */
  readonly floors: readonly number[];
  signals(drawn: Drawn): readonly GateSignal[];
  /** Share of planning questions that every gate sends on, 0..1. */
  share(planning: Int32Array): number;
  /** Whether a gate may win; others show what a property of a gate changes. */
  competes(signal: GateSignal): boolean;
}

/** Figures of one gate, one value per split, all on held-out questions. */
export interface GateFigures {
  readonly name: string;
  readonly modelled: boolean;
  readonly competes: boolean;
  readonly auc: readonly number[];
  readonly rawCalibrationError: readonly number[];
  readonly calibrationError: readonly number[];
  /** What the calibration error would be on so few answers if every score were exact: labels are drawn by the scores. */
  readonly exactError: readonly number[];
  readonly area: readonly number[];
  /** Points over random escalation, at the comparison's share and at half. */
  readonly overRandom: readonly number[];
  readonly overRandomAtHalf: readonly number[];
  readonly extraTokens: number | null;
  /** By floor: share sent on and quality, null where the planning questions did not reach it. */
  readonly floors: readonly { readonly floor: number; readonly served: readonly ({ share: number; quality: number } | null)[] }[];
}

export interface MeasuredGates {
  readonly name: string;
  readonly questions: number;
  readonly quality: number;
  readonly nextQuality: number;
  /** Share of answers sent on, by split. */
  readonly shares: readonly number[];
  readonly gates: readonly GateFigures[];
  /** Of the gates that compete, by split. */
  readonly verdicts: readonly Verdict[];
}

/** Measures all gates of a comparison over all splits: calibrated on the planning questions, measured on the held-out ones. */
export function measureGates(compared: GateComparison): MeasuredGates {
  const { name, stage, floors } = compared;
  const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const runs = SEEDS.map((seed) => measureSplit(compared, seed));
  const names = runs[0]?.gates.map((gate) => gate.name) ?? [];
  return {
    name,
    questions: stage.label.length,
    quality: mean(stage.label),
    nextQuality: mean(stage.nextLabel),
    shares: runs.map(({ share }) => share),
    verdicts: runs.map(({ verdict }) => verdict),
    gates: names.map((name) => {
      const all = runs.map(({ gates }) => {
        const gate = gates.find((one) => one.name === name);
        if (gate === undefined) throw new Error(`A split has no ${name}`);
        return gate;
      });
      const [first] = all;
      return {
        name,
        modelled: first?.modelled === true,
        competes: first?.competes === true,
        auc: all.map(({ auc }) => auc?.value ?? Number.NaN),
        rawCalibrationError: all.map(({ rawCalibrationError }) => rawCalibrationError),
        calibrationError: all.map(({ calibrationError }) => calibrationError),
        exactError: all.map(({ exactError }) => exactError),
        area: all.map(({ riskCoverage }) => riskCoverage.area.value),
        overRandom: all.map(({ overRandom }) => overRandom.value),
        overRandomAtHalf: all.map(({ atHalf }) => atHalf),
        extraTokens: first?.cost.extraTokens ?? null,
        floors: floors.map((floor, at) => ({ floor, served: all.map((gate) => gate.floors[at] ?? null) })),
      };
    }),
  };
}

function measureSplit({ stage, floors, signals: signalsOf, share: shareOf, competes }: GateComparison, seed: number) {
  const split = splitPrompts(stage.label.length, seed);
  const signals = signalsOf({ split, seed });
  // Chosen on planning questions, and the same for all gates.
  const share = shareOf(split.planning);
  const measuring = { split, share, seed };
  const tournament = stageTournament(stage, signals, measuring);
  const competing = signals.filter(competes);
  const gains = Float64Array.from(split.heldOut, (row) => (stage.nextLabel[row] ?? 0) - (stage.label[row] ?? 0));
  return {
    share,
    verdict: competing.length === signals.length ? tournament.verdict : stageTournament(stage, competing, measuring).verdict,
    gates: tournament.gates.map((gate) => ({
      ...gate,
      competes: competing.some(({ name }) => name === gate.name),
      exactError: exactError(gate.scores, seed),
      atHalf: overRandomEscalation({ scores: gate.scores, gains }, 0.5, seed).value,
      floors: floors.map((floor) => {
        const raw = signals.find(({ name }) => name === gate.name)?.raw ?? new Float64Array();
        return heldFloor(stage, { raw, calibration: gate.calibration, split, floor });
      }),
    })),
  };
}

function exactError(scores: Float64Array, seed: number): number {
  const random = seededRandom(mixSeed(seed, "exact scores"));
  return expectedCalibrationError(Array.from(scores, (score) => ({ score, label: 100 * random.next() < score ? 100 : 0 })));
}

import { expectedCalibrationError } from "@/solver/gates/gates";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { overRandomEscalation } from "@/solver/tournament/escalation";
import type { StageAnswers } from "@/solver/tournament/gateSignal";
import { stageTournament, type Verdict } from "@/solver/tournament/stageTournament";
import { splitPrompts } from "@/solver/workload/split";
import type { LadderAnswers } from "./answers";
import type { GateLadder } from "./cases";
import { heldFloor } from "./heldFloor";
import { agreementSignal, ladderSignals } from "./signals";

/** Splits into planning and held-out questions; each has its own modelled judges and trained gates. */
export const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;

/** Figures of one gate, one value per seed, all on held-out questions. */
export interface GateFigures {
  readonly name: string;
  readonly modelled: boolean;
  readonly auc: readonly number[];
  readonly rawCalibrationError: readonly number[];
  readonly calibrationError: readonly number[];
  /** What the calibration error would be on so few answers if every score were exact: labels are drawn by the scores. */
  readonly exactError: readonly number[];
  readonly area: readonly number[];
  /** Points over random escalation, at the share on which small model and peer disagree, and at half. */
  readonly overRandom: readonly number[];
  readonly overRandomAtHalf: readonly number[];
  readonly extraTokens: number | null;
  /** By floor: share sent on and quality, null where the planning questions did not reach it. */
  readonly floors: readonly { readonly floor: number; readonly served: readonly ({ share: number; quality: number } | null)[] }[];
}

export interface MeasuredLadder {
  readonly ladder: GateLadder;
  readonly questions: number;
  readonly quality: number;
  readonly nextQuality: number;
  /** Share of planning questions on which small model and peer disagree, by seed. */
  readonly disagreement: readonly number[];
  readonly gates: readonly GateFigures[];
  /** Of the gates that exist or could: the modelled judge of .80 among them, those of other reliabilities not. By seed. */
  readonly verdicts: readonly Verdict[];
}

/** The judge that stands for an ordinary LLM judge; the other modelled judges show what its reliability changes. */
export const USUAL_JUDGE = "judge of AUC 0.8";

/** Measures all gates of a ladder over all splits. */
export function measureLadder(answers: LadderAnswers): MeasuredLadder {
  const { ladder, outcomes } = answers;
  const [own, next] = outcomes.models;
  if (own === undefined || next === undefined) throw new Error("A ladder has two models");
  const stage: StageAnswers = { model: own.model, next: next.model, label: own.label, nextLabel: next.label };
  const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const runs = SEEDS.map((seed) => measureSplit(answers, stage, seed));
  const names = runs[0]?.gates.map(({ name }) => name) ?? [];
  return {
    ladder,
    questions: outcomes.promptIds.length,
    quality: mean(own.label),
    nextQuality: mean(next.label),
    disagreement: runs.map(({ share }) => share),
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
        auc: all.map(({ auc }) => auc?.value ?? Number.NaN),
        rawCalibrationError: all.map(({ rawCalibrationError }) => rawCalibrationError),
        calibrationError: all.map(({ calibrationError }) => calibrationError),
        exactError: all.map(({ exactError }) => exactError),
        area: all.map(({ riskCoverage }) => riskCoverage.area.value),
        overRandom: all.map(({ overRandom }) => overRandom.value),
        overRandomAtHalf: all.map(({ atHalf }) => atHalf),
        extraTokens: first?.cost.extraTokens ?? null,
        floors: ladder.floors.map((floor, at) => ({ floor, served: all.map(({ floors }) => floors[at] ?? null) })),
      };
    }),
  };
}

function measureSplit(answers: LadderAnswers, stage: StageAnswers, seed: number) {
  const split = splitPrompts(answers.outcomes.promptIds.length, seed);
  const signals = ladderSignals(answers, { split, seed });
  const { raw } = agreementSignal(answers);
  // Chosen on planning questions, and the same for all gates.
  const share = split.planning.reduce((sum, row) => sum + (raw[row] === 100 ? 0 : 1), 0) / split.planning.length;
  const measuring = { split, share, seed };
  const tournament = stageTournament(stage, signals, measuring);
  const real = signals.filter(({ modelled, name }) => !modelled || name === USUAL_JUDGE);
  const gains = Float64Array.from(split.heldOut, (row) => (stage.nextLabel[row] ?? 0) - (stage.label[row] ?? 0));
  return {
    share,
    verdict: stageTournament(stage, real, measuring).verdict,
    gates: tournament.gates.map((gate) => ({
      ...gate,
      exactError: exactError(gate.scores, seed),
      atHalf: overRandomEscalation({ scores: gate.scores, gains }, 0.5, seed).value,
      floors: answers.ladder.floors.map((floor) => {
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

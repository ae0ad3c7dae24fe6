import { areaDifference } from "@/solver/gates/gates";
import type { Interval } from "@/solver/numeric/interval";
import type { GateSignal, StageAnswers } from "./gateSignal";
import { type GateMeasuring, type MeasuredGate, measureGate } from "./measureGate";

/** Which gate accepts best on held-out answers. */
export type Verdict =
  | { readonly kind: "no-gates" }
  /** Its risk-coverage area is surely smaller than that of every other gate. */
  | { readonly kind: "winner"; readonly gate: string }
  /** The gate with the smallest area, and those that could be as good. */
  | { readonly kind: "no-difference"; readonly gate: string; readonly others: readonly string[] };

export interface RankedGate extends MeasuredGate {
  /** How much larger its risk-coverage area is than that of the best gate, in points; null for the best. */
  readonly behindBest: Interval | null;
}

/** The gates of one stage, measured on held-out prompts. */
export interface StageResult {
  readonly model: string;
  /** The model that refused answers go to. */
  readonly next: string;
  readonly heldOutAnswers: number;
  /** Mean labels of both models on the held-out prompts. */
  readonly quality: number;
  readonly nextQuality: number;
  /** Smallest risk-coverage area first. */
  readonly gates: readonly RankedGate[];
  readonly verdict: Verdict;
}

/**
 * Measures the gates of one stage on the same held-out answers and compares them by their risk-coverage areas. Two gates do not differ where
 * the 90 % interval of the difference of their areas, over the same resamples of the answers, includes 0.
 */
export function stageTournament(answers: StageAnswers, signals: readonly GateSignal[], measuring: GateMeasuring): StageResult {
  const { heldOut } = measuring.split;
  const measured = signals
    .map((signal) => measureGate(answers, signal, measuring))
    .sort((a, b) => a.riskCoverage.area.value - b.riskCoverage.area.value);
  const [best] = measured;
  const labelled = Array.from(heldOut, (row, at) => ({ score: best?.scores[at] ?? 0, label: answers.label[row] ?? 0 }));
  const gates = measured.map((gate) => ({
    ...gate,
    behindBest: gate === best ? null : areaDifference(labelled, gate.scores, measuring.seed),
  }));
  const mean = (labels: Float64Array): number => heldOut.reduce((sum, row) => sum + (labels[row] ?? 0), 0) / heldOut.length;
  return {
    ...{ model: answers.model, next: answers.next, heldOutAnswers: heldOut.length, gates, verdict: verdictOf(gates) },
    quality: mean(answers.label),
    nextQuality: mean(answers.nextLabel),
  };
}

function verdictOf(gates: readonly RankedGate[]): Verdict {
  const [best] = gates;
  if (best === undefined) return { kind: "no-gates" };
  const others = gates.flatMap(({ name, behindBest }) => (behindBest !== null && behindBest.low <= 0 ? [name] : []));
  return others.length === 0 ? { kind: "winner", gate: best.name } : { kind: "no-difference", gate: best.name, others };
}

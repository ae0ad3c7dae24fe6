import { areaDifference } from "@/solver/gates/gates";
import type { Interval } from "@/solver/numeric/interval";
import type { GateSignal, StageAnswers } from "./gateSignal";
import { type GateMeasuring, type MeasuredGate, measureGate } from "./measureGate";
import { inOrderOfChoice } from "./orderOfChoice";

/** Whether the gate that was chosen on the planning prompts accepts best on the held-out ones. */
export type Verdict =
  | { readonly kind: "no-gates" }
  /** Its risk-coverage area is surely smaller than that of every other gate. */
  | { readonly kind: "winner"; readonly gate: string }
  /** The chosen gate, and those that could be as good. */
  | { readonly kind: "no-difference"; readonly gate: string; readonly others: readonly string[] }
  /** The chosen gate, and those whose areas are surely smaller: what was best on the planning prompts is not on the others. */
  | { readonly kind: "not-confirmed"; readonly gate: string; readonly better: readonly string[] };

export interface RankedGate extends MeasuredGate {
  /** How much larger its risk-coverage area on the held-out prompts is than that of the chosen gate, in points; null for that one. */
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
  /** The chosen gate first: of those that are surely as good as the best on the planning prompts the cheapest first, then the others by their areas. */
  readonly gates: readonly RankedGate[];
  readonly verdict: Verdict;
}

/**
 * Chooses the gate of one stage by its risk-coverage area on the planning prompts, and compares it with the others on the held-out ones. Of
 * gates that are surely about as good on the planning prompts it is the one that takes the fewest tokens of further calls per answer. The
 * choice sees none of the held-out ones, so that the figures of the chosen gate are not those of the luckiest.
 */
export function stageTournament(answers: StageAnswers, signals: readonly GateSignal[], measuring: GateMeasuring): StageResult {
  const { heldOut } = measuring.split;
  const ranked = inOrderOfChoice(answers, signals, measuring).map((signal) => measureGate(answers, signal, measuring));
  const [best] = ranked;
  const labelled = Array.from(heldOut, (row, at) => ({ score: best?.scores[at] ?? 0, label: answers.label[row] ?? 0 }));
  const gates = ranked.map((gate) => ({
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
  const better = gates.flatMap(({ name, behindBest }) => (behindBest !== null && behindBest.high < 0 ? [name] : []));
  if (better.length > 0) return { kind: "not-confirmed", gate: best.name, better };
  const others = gates.flatMap(({ name, behindBest }) => (behindBest !== null && behindBest.low <= 0 ? [name] : []));
  return others.length === 0 ? { kind: "winner", gate: best.name } : { kind: "no-difference", gate: best.name, others };
}

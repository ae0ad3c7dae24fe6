import { areaDifference } from "@/solver/gates/gates";
import type { Interval } from "@/solver/numeric/interval";
import type { GateSignal, StageAnswers } from "./gateSignal";
import { type GateMeasuring, type MeasuredGate, measureGate } from "./measureGate";

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
  const measured = signals
    .map((signal) => ({ signal, gate: measureGate(answers, signal, measuring) }))
    // Areas that differ by rounding alone are equal, and the order of the signals stays.
    .sort((a, b) => Math.round(1e9 * a.gate.planningArea) - Math.round(1e9 * b.gate.planningArea));
  const ranked = cheapestFirst(answers, measured, measuring);
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

interface Candidate {
  readonly signal: GateSignal;
  readonly gate: MeasuredGate;
}

/**
 * How much larger the area of a gate may be, as a share of the smallest one, for the gate to count as equally good: less than a tenth of what
 * the accepted answers lose. The whole 90 % interval of the difference must lie below it, over the same resamples of the answers. With few
 * prompts nothing is known so well, and the gate with the smallest area stays: that a difference may be chance makes no gate a good one.
 */
const EQUIVALENCE_MARGIN = 0.1;

/**
 * Gates in the order of recommendation: those surely as good as the first on the planning prompts by the tokens of their further calls, and the
 * others after them. Unknown tokens are after all others.
 */
function cheapestFirst(answers: StageAnswers, candidates: readonly Candidate[], { split, seed }: GateMeasuring): readonly MeasuredGate[] {
  const [best] = candidates;
  if (best === undefined) return [];
  const rawOf = ({ raw }: GateSignal): Float64Array => Float64Array.from(split.planning, (row) => raw[row] ?? 0);
  const labelled = Array.from(split.planning, (row) => ({ score: best.signal.raw[row] ?? 0, label: answers.label[row] ?? 0 }));
  const margin = EQUIVALENCE_MARGIN * best.gate.planningArea;
  const isAsGood = ({ signal }: Candidate): boolean => areaDifference(labelled, rawOf(signal), seed).high <= margin;
  const asGood = candidates.filter((one) => one === best || isAsGood(one));
  const tokens = ({ signal: { cost } }: Candidate): number => cost.extraTokens ?? Number.MAX_VALUE;
  const inOrder = [...asGood.toSorted((a, b) => tokens(a) - tokens(b)), ...candidates.filter((one) => !asGood.includes(one))];
  return inOrder.map(({ gate }) => gate);
}

function verdictOf(gates: readonly RankedGate[]): Verdict {
  const [best] = gates;
  if (best === undefined) return { kind: "no-gates" };
  const better = gates.flatMap(({ name, behindBest }) => (behindBest !== null && behindBest.high < 0 ? [name] : []));
  if (better.length > 0) return { kind: "not-confirmed", gate: best.name, better };
  const others = gates.flatMap(({ name, behindBest }) => (behindBest !== null && behindBest.low <= 0 ? [name] : []));
  return others.length === 0 ? { kind: "winner", gate: best.name } : { kind: "no-difference", gate: best.name, others };
}

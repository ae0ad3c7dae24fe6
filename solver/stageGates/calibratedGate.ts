import type { Calibration, GateDocument } from "@/solver/gates/gateDocument";
import { fitCalibration } from "@/solver/gates/gates";
import { quantile } from "@/solver/numeric/quantile";
import { confidenceReadingOf } from "@/solver/workload/gateColumns";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { isRefused } from "./gateRefusal";
import { stageGate } from "./stageGate";

type Simple = Exclude<GateDocument, { kind: "sequence" }>;

export type SequenceDocument = Extract<GateDocument, { kind: "sequence" }>;

/** The doubtful middle of a sequence: shares of the answers that its first gate is sure are bad, and is not sure are good. */
export interface DoubtfulMiddle {
  readonly from: number;
  readonly to: number;
}

/**
 * A gate with the calibration of its raw scores by the labels of some prompts.
 *
 * @param rows of the outcome table.
 * @returns null where it has no scores here, or too few answers for a calibration.
 */
export function calibratedGate<Document extends Simple>(
  workload: Workload,
  outcomes: ModelOutcomes,
  { document, rows }: { readonly document: Document; readonly rows: Int32Array },
): (Document & { calibration: Calibration }) | null {
  const raw = scoresOn(workload, outcomes, { document, rows });
  if (raw === null) return null;
  const calibration = fitCalibration(Array.from(rows, (row, at) => ({ score: raw[at] ?? 0, label: outcomes.label[row] ?? 0 })));
  return calibration === null ? null : { ...document, calibration };
}

/**
 * Confidence first, the judge for the answers that it is not sure of: one sequence for each doubtful middle, both gates calibrated on the same
 * prompts, whose quantiles of calibrated confidence are the bounds.
 *
 * @returns null where the model has no column of confidence, or too few answers for a calibration.
 */
export function sequencesOn(
  workload: Workload,
  outcomes: ModelOutcomes,
  { rows, middles }: { readonly rows: Int32Array; readonly middles: readonly DoubtfulMiddle[] },
): readonly SequenceDocument[] | null {
  if (outcomes.confidence === undefined) return null;
  const gate = calibratedGate(workload, outcomes, {
    document: { kind: "confidence", ...confidenceReadingOf(workload.origin) } as const,
    rows,
  });
  const last = calibratedGate(workload, outcomes, { document: { kind: "judge" } as const, rows });
  const scores = gate === null ? null : scoresOn(workload, outcomes, { document: gate, rows });
  if (gate === null || last === null || scores === null) return null;
  return middles.map(({ from, to }) => {
    const [escalateBelow, acceptFrom] = [Math.floor(quantile(scores, from)), Math.ceil(quantile(scores, to))];
    return { kind: "sequence", first: [{ gate, acceptFrom, escalateBelow }], last };
  });
}

function scoresOn(
  workload: Workload,
  { model }: ModelOutcomes,
  { document, rows }: { readonly document: GateDocument; readonly rows: Int32Array },
): Float64Array | null {
  const gate = stageGate(workload, model, document);
  return isRefused(gate) ? null : Float64Array.from(rows, (row) => gate.scores[row] ?? 0);
}

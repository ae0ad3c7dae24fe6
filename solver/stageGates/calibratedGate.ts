import type { Calibration, GateDocument } from "@/solver/gates/gateDocument";
import { fitCalibration } from "@/solver/gates/gates";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { isRefused } from "./gateRefusal";
import { stageGate } from "./stageGate";

type Simple = Exclude<GateDocument, { kind: "sequence" }>;

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

/** A gate's scores of some prompts; null where it has none here. */
export function scoresOn(
  workload: Workload,
  { model }: ModelOutcomes,
  { document, rows }: { readonly document: GateDocument; readonly rows: Int32Array },
): Float64Array | null {
  const gate = stageGate(workload, model, document);
  return isRefused(gate) ? null : Float64Array.from(rows, (row) => gate.scores[row] ?? 0);
}

import type { Calibration, GateDocument, SimpleGateDocument } from "./gateDocument";

/**
 * A gate with other calibrations, by place among the gates that it consists of; those without one serve their raw scores. Without any it
 * identifies gates whose raw scores are the same.
 */
export function withCalibrations(gate: GateDocument, calibrations: readonly (Calibration | undefined)[]): GateDocument {
  if (gate.kind !== "sequence") return calibrated(gate, calibrations[0]);
  const first = gate.first.map((step, at) => ({ ...step, gate: calibrated(step.gate, calibrations[at]) }));
  return { ...gate, first, last: calibrated(gate.last, calibrations[first.length]) };
}

function calibrated<Gate extends SimpleGateDocument>({ calibration: _, ...gate }: Gate, calibration: Calibration | undefined): Gate {
  return { ...gate, ...(calibration !== undefined && { calibration }) } as Gate;
}

import type { LabelledGate, LabelledGates } from "@/server/contracts/studio";
import { wholePercent } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** What labels of served answers say of the gates in force, as terminal text. */
export function describeLabelledGates({ planId, needed, gates }: LabelledGates): string {
  return [
    `Gates of the plan ${planId.slice(0, 8)}, by labels of the answers that they scored. A new calibration needs ${needed.all} labels, ${needed.ofEach} of good answers and ${needed.ofEach} of bad ones.\n\n`,
    textTable([["gate", "labels", "good", "bad", "ECE in force", "ECE new", "fall of Brier score", "accepted"], ...gates.map(rowOf)]),
  ].join("");
}

function rowOf({ stage, model, gate, labels, good, bad, fitted }: LabelledGate): readonly string[] {
  const accepted = fitted?.accepted ?? null;
  return [
    `${stage} ${model}: ${gate}`,
    ...[labels, good, bad].map(String),
    fitted?.before.error.toFixed(1) ?? "-",
    fitted?.after.error.toFixed(1) ?? "-",
    fitted === null ? "-" : `${fitted.gain.value.toFixed(3)} (${fitted.gain.low.toFixed(3)} to ${fitted.gain.high.toFixed(3)})`,
    accepted === null ? "-" : `${wholePercent(accepted.before)} to ${wholePercent(accepted.after)}`,
  ];
}

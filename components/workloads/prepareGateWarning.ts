import type { ProfileTrust, WorkloadSummary } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";

/** The profile of a plan's gate, and the floor that it has to suit. */
export interface AskedGate {
  readonly jobId: string;
  readonly gate: { readonly id: string; readonly name: string };
  readonly floor: number;
}

/** The measured gate that a plan depends on. null: nothing is judged, or no profile knows the judge. */
export function gateOf(
  { policy, inputs, predictions }: Pick<Plan, "policy" | "inputs" | "predictions">,
  workload: Pick<WorkloadSummary, "profileId" | "measured" | "judge">,
): AskedGate | null {
  const { profileId, measured, judge } = workload;
  if (profileId === null || measured === undefined || judge.kind !== "measured" || modelsOf(policy).length < 2) return null;
  // Without a floor the promised quality depends on the gate.
  return { jobId: profileId, gate: measured.gate, floor: inputs.objective.qualityFloor ?? Math.floor(predictions.quality) };
}

/** Why the gate is currently not trustworthy for a plan, in a sentence; null: hand labels show that it is. */
export function gateWarning(
  { gate, floor }: Pick<AskedGate, "gate" | "floor">,
  { measures }: Pick<ProfileTrust, "measures">,
): string | null {
  const trust = measures.find(({ measureId }) => measureId === gate.id);
  if (trust === undefined || trust.warning === null) return null;
  if (trust.labels === 0)
    return `The scores of "${gate.name}", the gate's judge, have no hand labels: it is unknown whether it meets a floor of ${floor}.`;
  return `"${gate.name}", the gate's judge, is not fit for a floor of ${floor} at present: ${trust.warning}`;
}

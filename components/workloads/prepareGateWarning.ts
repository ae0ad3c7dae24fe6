import type { ProfileTrust, WorkloadSummary } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";

/** What a plan's gate was profiled as, and the floor that it has to be fit for. */
export interface AskedGate {
  readonly jobId: string;
  readonly gate: { readonly id: string; readonly name: string };
  readonly floor: number;
}

/** The gate whose trust a plan rests on: one that a profile measured. null: nothing is judged, or no profile knows the judge. */
export function gateOf(
  { policy, inputs, predictions }: Pick<Plan, "policy" | "inputs" | "predictions">,
  workload: Pick<WorkloadSummary, "profileId" | "measured" | "judge">,
): AskedGate | null {
  const { profileId, measured, judge } = workload;
  if (profileId === null || measured === undefined || judge.kind !== "measured" || modelsOf(policy).length < 2) return null;
  // Without a floor it is the promised quality that rests on the gate.
  return { jobId: profileId, gate: measured.gate, floor: inputs.objective.qualityFloor ?? Math.floor(predictions.quality) };
}

/** Why a plan should not rest on its gate as things stand, in a sentence; null: hand labels say that it can. */
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

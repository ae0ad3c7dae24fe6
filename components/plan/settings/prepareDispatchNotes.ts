import type { PolicyChoice } from "@/solver/plan/planSlack";
import type { DispatchTables } from "../planning/useDispatch";

/** What slack dispatch lacks, and the page that mends it; `link` null: none does. */
export interface DispatchNote {
  readonly kind: "no-predictor" | "no-texts" | "one-model" | "refused" | "failed" | "note";
  readonly says: string;
  readonly link: { readonly to: string; readonly text: string } | null;
}

/** The pages that mend something are of this workload. */
const labOf = (workloadId: string): string => `/lab?tab=predictors&workload=${encodeURIComponent(workloadId)}`;

/**
 * What is missing for slack dispatch where it is asked for, each with the link that mends it.
 *
 * @param policy where slack dispatch is not asked for, nothing is said.
 */
export function prepareDispatchNotes(
  policy: PolicyChoice,
  { missing, notes, refusal, error }: Pick<DispatchTables, "missing" | "notes" | "refusal" | "error">,
  workloadId: string,
): readonly DispatchNote[] {
  if (policy !== "slack" && policy !== "any") return [];
  if (error !== null) return [{ kind: "failed", says: `Slack dispatch could not be simulated: ${error.message}`, link: null }];
  // Where nothing can be planned at all, the frontier says why.
  if (refusal !== null) return refusal.kind === "infeasible" ? [] : [refused(refusal)];
  return [...missing.map((lack) => lacking(lack, workloadId)), ...notes.map((says): DispatchNote => ({ kind: "note", says, link: null }))];
}

function refused(refusal: NonNullable<DispatchTables["refusal"]>): DispatchNote {
  if (refusal.kind === "one-model")
    return { kind: "one-model", says: refusal.message, link: { to: "/workloads/profiles", text: "Profile more models" } };
  return { kind: "refused", says: refusal.message, link: null };
}

function lacking(lack: DispatchTables["missing"][number], workloadId: string): DispatchNote {
  switch (lack) {
    case "no-predictor":
      return {
        kind: lack,
        says: "Slack dispatch: confidence is the stated mean quality of each model.",
        link: { to: labOf(workloadId), text: "Train a predictor" },
      };
    case "no-texts":
      return {
        kind: lack,
        says: "Slack dispatch: the texts of this workload's prompts are not kept, so a predictor of confidence would read their lengths only.",
        link: { to: "/workloads/profiles", text: "Profile prompts" },
      };
  }
}

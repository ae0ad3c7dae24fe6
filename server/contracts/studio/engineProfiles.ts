import type { ChosenFit } from "@/solver/calibration/chooseFit";
import type { ServingPrediction } from "@/solver/calibration/predictServing";
import type { GroupErrors } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import type { EngineProfile, KernelProfile } from "@/solver/hardware/engineProfile";
import type { RowProblem } from "@/solver/workload/rowProblems";

/** An engine profile fitted to the operator's own runs. */
export interface KeptProfile {
  readonly profile: EngineProfile;
  readonly createdAt: string;
  readonly actor: string;
}

export interface ProfileList {
  readonly builtIn: readonly KernelProfile[];
  /** Oldest first. */
  readonly own: readonly KeptProfile[];
  /** Id of the profile used for planning. */
  readonly inUse: string;
}

/** Events of comparing predictions with an uploaded table: the table, predictions as they are made, and the errors, last. */
export type CheckEvent =
  | {
      readonly kind: "table";
      readonly name: string;
      /** Rows to predict. */
      readonly rows: number;
      readonly unsupported: readonly UnsupportedRow[];
      /** Rows that could not be read. */
      readonly bad: readonly RowProblem[];
    }
  | {
      readonly kind: "predicted";
      readonly predictions: readonly ServingPrediction[];
      /** Rows that cannot be predicted. */
      readonly unsupported: readonly UnsupportedRow[];
    }
  | { readonly kind: "checked"; readonly errors: readonly GroupErrors[] }
  | { readonly kind: "refused"; readonly message: string };

export type ProfileFit = Extract<ChosenFit, { outcome: "fitted" }>;

/** The present state of a fit, with the profile it began from. */
export type FitState = { readonly name: string; readonly base: KernelProfile } & (
  | { readonly kind: "running" | "stopped" }
  | { readonly kind: "fitted"; readonly fit: ProfileFit }
  | { readonly kind: "refused"; readonly message: string }
);

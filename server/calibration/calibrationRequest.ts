import type { ChosenFit } from "@/solver/calibration/chooseFit";
import type { FitMeasured, FitMeasuredOptions } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { ServingPrediction } from "@/solver/calibration/predictServing";
import type { GroupErrors } from "@/solver/calibration/servingErrors";
import type { ServingRow, UnsupportedRow } from "@/solver/calibration/servingRow";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { EngineKind, EngineProfile, KernelProfile } from "@/solver/hardware/engineProfile";

/** What a calibration worker is started for. */
export type CalibrationTask =
  | {
      readonly kind: "check";
      readonly rows: readonly ServingRow[];
      /** What each engine's rows are predicted with. */
      readonly profiles: Readonly<Record<EngineKind, EngineProfile>>;
      readonly userCards: UserCards;
    }
  | {
      readonly kind: "fit";
      /** Of one engine. */
      readonly rows: readonly ServingRow[];
      readonly base: KernelProfile;
      readonly userCards: UserCards;
      /** Whether the efficiencies are fitted in addition to the host terms; null: the error on held-out rows decides. */
      readonly efficiencies: boolean | null;
      /** Whether TTFT is left out of the fit. */
      readonly tpotOnly: boolean;
      readonly id: string;
      readonly name: string;
      /** ISO date of the fit. */
      readonly asOf: string;
    }
  | { readonly kind: "measured"; readonly runs: readonly MeasuredRun[]; readonly options: FitMeasuredOptions };

/** Intermediate message of the worker: predictions in batches as they are made. */
export interface Predicted {
  readonly kind: "predicted";
  readonly predictions: readonly ServingPrediction[];
  readonly unsupported: readonly UnsupportedRow[];
}

/** From the worker, last. */
export type CalibrationAnswer =
  | { readonly kind: "checked"; readonly errors: readonly GroupErrors[] }
  | { readonly kind: "fit"; readonly answer: ChosenFit }
  | { readonly kind: "measured"; readonly answer: FitMeasured };

export type CalibrationReply = Predicted | CalibrationAnswer;

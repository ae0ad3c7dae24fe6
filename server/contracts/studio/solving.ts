import type { ConflictingConstraint } from "@/solver/cascade/deploy/demands";
import type { ExplorationWire } from "@/solver/cascade/explore/explorationWire";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { NoDispatch } from "@/solver/dispatch/dispatchRefusal";
import type { NoPlanKind, Plan } from "@/solver/plan/plan";
import type { Outcome } from "./outcome";

export type SolveAnswer =
  /** `notes`: as in an exploration. */
  | { readonly outcome: "plan"; readonly plan: Plan; readonly notes?: readonly string[] }
  | {
      readonly outcome: "infeasible";
      readonly kind: NoPlanKind;
      /** In operators' words; for display only. */
      readonly reason: string;
      readonly bestQuality: number | null;
      readonly bestLatencySeconds: number | null;
      /** The smallest set of constraints that conflict; absent if the constraints are not the cause. */
      readonly conflict?: readonly ConflictingConstraint[];
    };

export type SolveEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: SolveAnswer };

/** `notes`: what planning had to ignore, for example where engines are given, a sentence each; absent: nothing. */
export type ExploreAnswer = Outcome<{ readonly exploration: ExplorationWire; readonly notes?: readonly string[] }>;

export type ExploreEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: ExploreAnswer };

/**
 * What is missing for slack dispatch by the confidences of a trained predictor. `no-predictor`: none was trained on the workload's prompts;
 * `no-texts`: their texts are not kept, so that one would read their lengths only.
 */
export type MissingForConfidence = "no-predictor" | "no-texts";

export type DispatchAnswer =
  | {
      readonly ok: true;
      readonly dispatch: DispatchExploration;
      readonly notes?: readonly string[];
      /** Left out: nothing. */
      readonly missing?: readonly MissingForConfidence[];
    }
  /** `infeasible`: nothing can be planned in this situation at all. */
  | { readonly ok: false; readonly kind: NoDispatch["kind"] | "infeasible"; readonly message: string };

export type DispatchEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: DispatchAnswer };

import type { SystemFigures } from "@/solver/baselines/baselineFigures";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import type { ServingFigures } from "@/solver/cascade/whatIf/servingFigures";

/** Questions about a plan, in addition to the plan itself. */
export const examinedKinds = ["prices", "sensitivity", "baselines"] as const;
export type ExaminedKind = (typeof examinedKinds)[number];

/** Latencies by the objective; null if no candidate sustains the rate or the time ran out. */
export type Examination =
  | {
      readonly kind: "prices";
      readonly latencySeconds: number;
      readonly qualityFloor: number | null;
      /** The same thresholds with more GPUs: one more, and a node more. */
      readonly gpus: readonly { readonly gpu: string; readonly more: number; readonly latencySeconds: number | null }[];
      /** The best plan with the floor raised or lowered by so many points, within its range. */
      readonly quality: readonly { readonly points: number; readonly latencySeconds: number | null }[];
      /** Constraints without which the same thresholds would be faster. */
      readonly constraints: readonly { readonly says: string; readonly latencySeconds: number }[];
    }
  | { readonly kind: "sensitivity"; readonly cases: readonly SensitivityCase[] }
  | {
      readonly kind: "baselines";
      /** The plan itself. */
      readonly planHeldOut: HeldOutFigures;
      readonly systems: readonly BaselineFigures[];
      readonly refused: readonly RefusedBaseline[];
    };

/** A system on the prompts held out from planning: what neither the plan nor a baseline was chosen on. */
export interface HeldOutFigures {
  readonly quality: number;
  /** By the objective; null where the load is not sustained. */
  readonly latencySeconds: number | null;
}

/** A plan under an input that differs from the planned one, compared with the plan that would be made for that input. */
export interface SensitivityCase {
  readonly says: string;
  readonly keeps: boolean;
  readonly routingChanges: boolean;
  readonly deploymentChanges: boolean;
  readonly kept: { readonly latencySeconds: number | null; readonly quality: number };
  readonly replanned: { readonly latencySeconds: number | null; readonly quality: number } | null;
}

/** A baseline on the planning prompts, simulated like the plan itself. */
export interface BaselineFigures extends SystemFigures {
  readonly name: string;
  /** false for an oracle and for a modelled router, whose scores know the labels: bounds on what systems can reach. */
  readonly attainable: boolean;
  /** The kind of policy that plans it, where that is not a cascade by thresholds. */
  readonly policy?: "cascade-routing";
  /** null: it is simulated on the planning prompts alone. */
  readonly heldOut: HeldOutFigures | null;
}

export interface RefusedBaseline {
  readonly name: string;
  readonly reason: string;
}

export type ExamineEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly examination: Examination }
  | { readonly kind: "refused"; readonly message: string };

/** The prediction for a cascade at a rate, whole or without some of its stages. */
type PredictedCascade = Omit<ServingFigures, "unserved" | "longestSeconds">;

/** A plan's cascade without the lost stages, simulated like plans are, compared with the whole cascade. */
export interface RemainingCascade {
  /** Per engine second. */
  readonly requestsPerSecond: number;
  /** The source of the rate, in a sentence. */
  readonly basis: string;
  readonly whole: PredictedCascade;
  readonly remaining: PredictedCascade;
}

import type { SystemFigures } from "@/solver/baselines/baselineFigures";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import type { ServingFigures } from "@/solver/cascade/whatIf/servingFigures";

/** What can be asked about a plan beside the plan itself. */
export const examinedKinds = ["prices", "sensitivity", "baselines"] as const;
export type ExaminedKind = (typeof examinedKinds)[number];

/** Latencies are the objective's; null where nothing keeps up or the time ran out. */
export type Examination =
  | {
      readonly kind: "prices";
      readonly latencySeconds: number;
      readonly qualityFloor: number | null;
      /** The same thresholds with GPUs more: one, and a node of them. */
      readonly gpus: readonly { readonly gpu: string; readonly more: number; readonly latencySeconds: number | null }[];
      /** The best plan with the floor so many points higher or lower, as far as it can be. */
      readonly quality: readonly { readonly points: number; readonly latencySeconds: number | null }[];
      /** Constraints without which the same thresholds would be faster. */
      readonly constraints: readonly { readonly says: string; readonly latencySeconds: number }[];
    }
  | { readonly kind: "sensitivity"; readonly cases: readonly SensitivityCase[] }
  | { readonly kind: "baselines"; readonly systems: readonly BaselineFigures[]; readonly refused: readonly RefusedBaseline[] };

/** A plan under something it took for granted and that turned out otherwise, beside the plan that would be made then. */
export interface SensitivityCase {
  readonly says: string;
  readonly keeps: boolean;
  readonly routingChanges: boolean;
  readonly deploymentChanges: boolean;
  readonly kept: { readonly latencySeconds: number | null; readonly quality: number };
  readonly replanned: { readonly latencySeconds: number | null; readonly quality: number } | null;
}

/** A baseline on the planning prompts, simulated whole like the plan itself. */
export interface BaselineFigures extends SystemFigures {
  readonly name: string;
}

export interface RefusedBaseline {
  readonly name: string;
  readonly reason: string;
}

export type ExamineEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly examination: Examination }
  | { readonly kind: "refused"; readonly message: string };

/** What a cascade is predicted to do at a rate, whole or without some of its stages. */
type PredictedCascade = Omit<ServingFigures, "unserved" | "longestSeconds">;

/** A plan's cascade without the stages that are lost, simulated as plans are, beside the whole of it. */
export interface RemainingCascade {
  /** Per engine second. */
  readonly requestsPerSecond: number;
  /** Where the rate comes from, in a sentence. */
  readonly basis: string;
  readonly whole: PredictedCascade;
  readonly remaining: PredictedCascade;
}

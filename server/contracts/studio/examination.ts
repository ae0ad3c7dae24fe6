import type { PlanningProgress } from "@/solver/cascade/explore/progress";

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
export interface BaselineFigures {
  readonly name: string;
  /** Models, shapes and thresholds in one line. */
  readonly cascade: string;
  readonly quality: number;
  /** null where the floor's bound is not known for it. */
  readonly qualityLow: number | null;
  /** By the objective; null: does not keep up. */
  readonly latencySeconds: number | null;
  readonly gpus: number;
  readonly costUsdPerRequest: number;
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
interface PredictedCascade {
  /** Requests per engine second that it sustains; null where no stage is left. */
  readonly capacityPerSecond: number | null;
  /** End to end; null where it does not keep up with the rate, or no stage is left. */
  readonly p95Seconds: number | null;
  /** Mean label of the answers that are given, 0..100; null where `p95Seconds` is. */
  readonly quality: number | null;
  /** Of the requests, those that are refused because only a smaller model could answer them. */
  readonly refusedShare: number;
}

/** A plan's cascade without the stages that are lost, simulated as plans are, beside the whole of it. */
export interface RemainingCascade {
  /** Per engine second. */
  readonly requestsPerSecond: number;
  /** Where the rate comes from, in a sentence. */
  readonly basis: string;
  readonly whole: PredictedCascade;
  readonly remaining: PredictedCascade;
}

import { z } from "zod";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";
import { predictorHash } from "@/solver/plan/directStart";
import type { MixPredictions, Plan } from "@/solver/plan/plan";
import { roundChoiceSchema } from "@/solver/plan/policySchema";

const perSecond = z.number().positive().max(100_000);
const qualityFloor = z.number().min(0).max(100);

/** The request to plan engines of a cluster for a mix of single requests and declared workflows. */
export const mixRequestSchema = z.object({
  clusterId: z.string().min(1),
  workloadId: z.string().min(1),
  /** Requests of no declared workflow; null: none. */
  singles: z.object({ requestsPerSecond: perSecond, qualityFloor }).nullable(),
  workflows: z
    .array(
      z.object({
        name: z.string().min(1),
        programsPerSecond: perSecond,
        qualityFloor,
        /** Hash of a predictor; null: none, and all programs have one configuration. */
        predictor: predictorHash.nullable(),
      }),
    )
    .max(16),
  selection: roundChoiceSchema,
});
export type MixRequest = z.infer<typeof mixRequestSchema>;

/** The same mix on engines that run already, with the cascade and the configurations that are best on them. */
export type MixBeside =
  | {
      readonly kind: "served";
      readonly gpus: number;
      /** By how much all rates may rise on them until a model is loaded with the load factor. */
      readonly factor: number;
      readonly classes: MixPredictions["classes"];
      readonly meanSeconds: number;
      readonly p95Seconds: number;
      readonly quality: number | null;
    }
  /** They do not carry the mix at its floors, and why, in a sentence. */
  | { readonly kind: "not-served"; readonly gpus: number; readonly message: string };

/** Why there is no plan for a mix. */
type NoMixKind =
  /** Something that was asked for is unknown or not supported. */
  "malformed" | "floor" | "no-room" | "overloaded" | "constraints" | "undecided";

export interface NoMixPlan {
  readonly ok: false;
  readonly kind: NoMixKind;
  readonly message: string;
  /** Where rates are too high: the share of them that the cluster carries. */
  readonly factor?: number;
}

/** A plan for a mix with the same mix on what runs, or why there is none. */
export type MixPlanAnswer = { readonly ok: true; readonly plan: Plan; readonly beside: MixBeside | null } | NoMixPlan;

export type MixEvent =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: MixPlanAnswer };

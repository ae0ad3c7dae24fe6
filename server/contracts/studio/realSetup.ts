import { z } from "zod";

/** What a set-up is asked for: so many questions measure the quality of both models. */
export const realSetupOrderSchema = z.strictObject({
  questions: z.int().min(50, "ask at least 50 questions").max(5_000, "ask at most 5,000 questions"),
});
export type RealSetupOrder = z.infer<typeof realSetupOrderSchema>;

/** Steps that put real models on this computer into the studio, in their order. */
export const realSetupSteps = ["engine", "models", "cluster", "start", "quality", "speed"] as const;
export type RealSetupStepName = (typeof realSetupSteps)[number];

export interface RealSetupStep {
  readonly name: RealSetupStepName;
  readonly state: "waiting" | "running" | "done" | "failed" | "stopped";
  /** What it does, or its result; empty before it begins. */
  readonly says: string;
  /** 0..1; null: how much is left is not known. */
  readonly progress: number | null;
  /** How long it has taken, wall seconds; null before it begins. */
  readonly seconds: number | null;
}

/** The set-up of real models on this computer. */
export interface RealSetup {
  readonly state: "absent" | "unsupported" | "running" | "stopped" | "failed" | "ready";
  /** Why it is unsupported or failed, with the way out. */
  readonly message: string | null;
  readonly steps: readonly RealSetupStep[];
  /** About what the engine takes on disk, bytes. */
  readonly engineBytes: number;
  /** null: not attached yet, or removed. */
  readonly clusterId: string | null;
  readonly workloadId: string | null;
  /** Name of the engine profile that plans use now and that measuring the speed replaces; null: it is the set-up's own. */
  readonly replaces: string | null;
  /** Name of the engine profile that removing puts back in use; null: none, and the profile in use stays. */
  readonly restores: string | null;
  /** What to plan with first, once it is ready. */
  readonly suggested: { readonly requestsPerSecond: number; readonly qualityFloor: number } | null;
}

import type { Plan, Predictions } from "@/solver/plan/plan";

/**
 * A plan's promises for its traffic. null: there is no plan, or its figures belong to the plan that it was made from, as with just-in-time
 * choice of models.
 */
export const promisedBy = (plan: Pick<Plan, "policy" | "predictions"> | null): Predictions | null =>
  plan === null || plan.policy.kind === "just-in-time" ? null : plan.predictions;

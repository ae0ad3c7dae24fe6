import type { Plan, Predictions } from "@/solver/plan/plan";

/** What a plan promises of the traffic under it. null: there is no plan, or its figures are of another that it was made of, as where models are chosen just in time. */
export const promisedBy = (plan: Pick<Plan, "policy" | "predictions"> | null): Predictions | null =>
  plan === null || plan.policy.kind === "just-in-time" ? null : plan.predictions;

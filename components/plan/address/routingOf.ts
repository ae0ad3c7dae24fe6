import type { Exploration } from "@/solver/cascade/explore/exploration";
import type { Plan } from "@/solver/plan/plan";
import { directStartOf, modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import type { RoutingChoice } from "./routingKey";

/** The cascade of a routing by names, as pins and fixed thresholds hold it. */
export function routingOf(exploration: Exploration, routing: number): RoutingChoice {
  const found = exploration.routings[routing];
  return {
    models: (found?.stages ?? []).map((stage) => exploration.models[stage] ?? "?"),
    thresholds: found?.thresholds ?? [],
    ...(found !== undefined && found.startBelow !== 0 && { startBelow: found.startBelow }),
  };
}

/** The cascade of a plan, in the same form; of rounds their models alone, whatever route single requests have beside them. */
export function routingOfPlan({ policy }: Pick<Plan, "policy">): RoutingChoice {
  if (policy.kind === "just-in-time") return { models: modelsOf(policy), thresholds: [] };
  const directStart = directStartOf(policy);
  return {
    models: modelsOf(policy),
    thresholds: thresholdsOf(policy),
    ...(directStart !== undefined && { startBelow: directStart.below }),
  };
}

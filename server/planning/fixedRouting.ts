import type { BuildPlanInput } from "@/solver/cascade/buildPlan";
import type { Explorer } from "@/solver/cascade/explore";
import type { FixedRouting } from "./planningRequest";

/** A routing set by hand as indices, or the sentence that refuses it. */
export function fixedRouting(
  explorer: Explorer,
  { models, thresholds, startBelow = 0 }: NonNullable<FixedRouting>,
): NonNullable<BuildPlanInput["fixed"]> | string {
  const ladder = explorer.input.sample.models;
  const stages = models.map((model) => ladder.indexOf(model));
  const stranger = models.find((_, index) => (stages[index] ?? -1) < 0);
  if (stranger !== undefined) return `${stranger} is not among the models to plan with: ${ladder.join(", ")}.`;
  if (stages.some((model, index) => index > 0 && model <= (stages[index - 1] ?? -1)))
    return `A cascade goes from the smaller to the larger model: ${models.join(", ")} is not in the order ${ladder.join(", ")}.`;
  if (thresholds.length !== stages.length - 1)
    return `A cascade of ${stages.length} stages needs ${stages.length - 1} thresholds, found ${thresholds.length}.`;
  if (startBelow > 0 && explorer.input.directStart === undefined)
    return `A start by a router's score of ${startBelow} needs a router: ask for a direct start, or let all requests start at ${models[0]}.`;
  return { stages, thresholds, startBelow: stages.length > 1 ? startBelow : 0 };
}

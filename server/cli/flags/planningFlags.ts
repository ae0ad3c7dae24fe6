import type { Command } from "commander";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { type ConstraintFlags, readConstraints, withConstraintFlags } from "./constraintFlags";
import { type RoutingFlags, readRouting, withRoutingFlags } from "./routingFlags";
import { readSituation, type SituationFlags, withSituationFlags } from "./situationFlags";

export type PlanningFlags = SituationFlags & RoutingFlags & ConstraintFlags;

/** Adds the flags of the planner's whole input except the objective. */
export const withPlanningFlags = (command: Command): Command => withConstraintFlags(withRoutingFlags(withSituationFlags(command)));

/**
 * The situation, the constraints and the judge.
 * @throws Refusal
 */
export async function readPlanning(flags: PlanningFlags): Promise<PlanningSituation> {
  const { situation, catalogue } = await readSituation(flags);
  const routing = readRouting(flags, catalogue);
  const judged = routing.judge?.kind === "engine" ? [routing.judge.model] : [];
  const asked = readConstraints(flags, {
    models: [...new Set([...situation.workload.outcomes.models.map(({ model }) => model), ...judged])],
    nodes: situation.cluster.nodes.map(({ name }) => name),
  });
  return { ...situation, ...routing, ...asked };
}

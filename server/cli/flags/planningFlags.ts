import type { Command } from "commander";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { type ConstraintFlags, readConstraints, withConstraintFlags } from "./constraintFlags";
import { type RoutingFlags, readRouting, withRoutingFlags } from "./routingFlags";
import { readSituation, type SituationFlags, withSituationFlags } from "./situationFlags";

export type PlanningFlags = SituationFlags & RoutingFlags & ConstraintFlags;

type Read = { readonly ok: true; readonly situation: PlanningSituation } | { readonly ok: false; readonly message: string };

/** Adds the flags of everything a planner is told beside the objective. */
export const withPlanningFlags = (command: Command): Command => withConstraintFlags(withRoutingFlags(withSituationFlags(command)));

/** What is planned for, under which constraints and with which judge; or one sentence on what is wrong. */
export async function readPlanning(flags: PlanningFlags): Promise<Read> {
  const read = await readSituation(flags);
  if (!read.ok) return read;
  const { situation, catalogue } = read;
  const routing = readRouting(flags, catalogue);
  if (!routing.ok) return routing;
  const judged = routing.judge?.kind === "engine" ? [routing.judge.model] : [];
  const asked = readConstraints(flags, {
    models: [...new Set([...situation.workload.outcomes.models.map(({ model }) => model), ...judged])],
    nodes: situation.cluster.nodes.map(({ name }) => name),
  });
  if (!asked.ok) return asked;
  const { ok: _, ...routed } = routing;
  const { ok: __, ...constrained } = asked;
  return { ok: true, situation: { ...situation, ...routed, ...constrained } };
}

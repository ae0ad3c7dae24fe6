import { unservedByHand } from "@/solver/cascade/choose/unservedSays";
import type { Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import { type Ladder, type NamedRouting, refusalSays, routingRefusal, stageWithoutRequests } from "@/solver/cascade/routing/routingRefusal";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { ConstraintsView } from "../address/constraintsCodec";
import type { FoundRouting } from "../planning/findRouting";

/** The inputs that decide which models can be stages here. */
export interface StageRules {
  readonly ladder: Ladder;
  readonly cluster: Pick<ClusterSpec, "kind" | "name">;
  readonly view: Pick<ConstraintsView, "constraints" | "judge">;
}

export const stageRules = ({ models, leastGpus }: Exploration, cluster: StageRules["cluster"], view: ConstraintsView): StageRules => ({
  ladder: { models, leastGpus, router: view.router !== null, fixedTopology: cluster.kind === "endpoints" },
  cluster,
  view,
});

/** Why a model cannot be a stage here, in one sentence; null where it can. */
export function modelProblem(model: string, { ladder, cluster, view }: StageRules): string | null {
  if (view.constraints.excluded.includes(model)) return `${model} is excluded by a constraint: allow it to make it a stage.`;
  if (view.judge?.model === model) return `${model} judges answers here, so it cannot be a stage too.`;
  const alone = { models: [model], thresholds: [] };
  const refusal = routingRefusal(alone, ladder);
  if (refusal?.kind === "unknown-model" && cluster.kind === "endpoints")
    return `No engine of ${model} is attached to ${cluster.name}, so it cannot be a stage.`;
  return refusal === null ? null : refusalSays(refusal, alone, ladder);
}

/**
 * Why a chosen cascade cannot be planned, in one sentence; null where it can, according to the tables.
 *
 * @param found its entry in the tables; null while they lack it.
 */
export function choiceProblem(asked: NamedRouting, found: FoundRouting | null, knobs: Knobs, rules: StageRules): string | null {
  for (const model of asked.models) {
    const problem = modelProblem(model, rules);
    if (problem !== null) return problem;
  }
  const refusal = routingRefusal(asked, rules.ladder) ?? (found === null ? null : stageWithoutRequests(found.routing.share));
  if (refusal !== null) return refusalSays(refusal, asked, rules.ladder);
  if (found === null || found.candidate.latencySeconds < Number.POSITIVE_INFINITY) return null;
  return unservedByHand(found.candidate.routing, found.exploration, knobs).reason;
}

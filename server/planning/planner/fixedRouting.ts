import type { SolveRequest } from "@/server/contracts/planRequest";
import type { Explorer } from "@/solver/cascade/explore/explorer";
import { leastGpusOf } from "@/solver/cascade/explore/gatherExploration";
import type { BuildPlanInput } from "@/solver/cascade/plan/planInput";
import { refusalSays, routingRefusal, stageWithoutRequests } from "@/solver/cascade/routing/routingRefusal";
import type { NoPlanKind } from "@/solver/plan/plan";

/** Why a manually set routing is refused. */
interface RefusedRouting {
  readonly kind: Extract<NoPlanKind, "malformed" | "no-room">;
  readonly reason: string;
}

/**
 * A manually set routing as indices, or why it is refused.
 *
 * @param withIdleStages whether stages that no request reaches are allowed, for callers that still adjust their thresholds.
 */
export function fixedRouting(
  explorer: Explorer,
  routing: NonNullable<SolveRequest["fixed"]>,
  { withIdleStages = false }: { readonly withIdleStages?: boolean } = {},
): NonNullable<BuildPlanInput["fixed"]> | RefusedRouting {
  const { sample, shapes, fixedTopology, directStart } = explorer.input;
  const ladder = {
    models: sample.models,
    leastGpus: leastGpusOf(shapes),
    router: directStart !== undefined,
    fixedTopology: fixedTopology !== undefined,
  };
  const refused = (refusal: NonNullable<ReturnType<typeof routingRefusal>>): RefusedRouting => ({
    kind: refusal.kind === "fits-nowhere" ? "no-room" : "malformed",
    reason: refusalSays(refusal, routing, ladder),
  });
  const refusal = routingRefusal(routing, ladder);
  if (refusal !== null) return refused(refusal);
  const stages = routing.models.map((model) => ladder.models.indexOf(model));
  const startBelow = stages.length > 1 ? (routing.startBelow ?? 0) : 0;
  const unreached = withIdleStages ? null : stageWithoutRequests(explorer.outlook(stages, routing.thresholds, startBelow).routed.share);
  return unreached === null ? { stages, thresholds: routing.thresholds, startBelow } : refused(unreached);
}

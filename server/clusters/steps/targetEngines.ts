import type { EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { Placement } from "@/solver/plan/clusterSpec";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { ModelDeployment, Plan } from "@/solver/plan/plan";

/** GPUs of one node as text: `0-3` for a run, `0.2.5` otherwise. */
function gpuText(gpus: readonly number[]): string {
  const sorted = [...gpus].sort((a, b) => a - b);
  const first = sorted[0] ?? 0;
  const last = sorted.at(-1) ?? first;
  if (sorted.length > 1 && last - first === sorted.length - 1) return `${first}-${last}`;
  return sorted.join(".");
}

/**
 * An engine's id describes it and its place: model, precision, shape and GPUs. A replica that two plans share therefore has the same id in
 * both, by which a roll-out knows what to leave unchanged.
 *
 * @example engineId({ model: "gemma-2-2b", precision: "bf16" }, { tp: 2, pp: 1 }, [{ node: "node1", gpus: [0, 1] }]) //
 * "gemma-2-2b-bf16-tp2-pp1-node1-0-1"
 */
export function engineId(
  { model, precision }: Pick<ModelDeployment, "model" | "precision">,
  shape: { readonly tp: number; readonly pp: number },
  placements: readonly Placement[],
): string {
  const where = placements.map((placement) => `${placement.node}-${gpuText(placement.gpus)}`).join("_");
  return `${model}-${precision}-tp${shape.tp}-pp${shape.pp}-${where}`.toLowerCase().replace(/[^a-z0-9._-]/g, "-");
}

/** Every engine of a plan, in the order of its deployment. */
export function targetEngines(plan: Pick<Plan, "deployment">): readonly EngineOrder[] {
  return plan.deployment.flatMap((deployment) =>
    deployment.replicas.flatMap((group) =>
      group.placements.map((placements) => ({
        id: engineId(deployment, group, placements),
        model: deployment.model,
        precision: deployment.precision,
        gpu: group.gpu ?? deployment.gpu,
        tp: group.tp,
        pp: group.pp,
        placements,
        ...(group.maxInFlight === undefined ? {} : { maxInFlight: group.maxInFlight }),
      })),
    ),
  );
}

/** Request limit of each engine of a plan, by its id. */
export const plannedLimits = ({ deployment }: Pick<Plan, "deployment">): readonly (readonly [string, number])[] =>
  deployment.flatMap((model) =>
    model.replicas.flatMap((group) =>
      group.placements.map((placements) => [engineId(model, group, placements), inFlightLimit(group)] as const),
    ),
  );

/** The GPUs an engine occupies, as `node/index`. */
export const gpuKeys = (engine: Pick<EngineRequest, "placements">): readonly string[] =>
  engine.placements.flatMap((placement) => placement.gpus.map((gpu) => `${placement.node}/${gpu}`));

/** The GPUs of an engine, for people: `node1 GPU 0-3`. */
export const placeText = (engine: Pick<EngineRequest, "placements">): string =>
  engine.placements.map((placement) => `${placement.node} GPU ${gpuText(placement.gpus)}`).join(", ");

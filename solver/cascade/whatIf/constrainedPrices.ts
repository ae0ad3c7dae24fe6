import { constraintsOf } from "@/solver/plan/constraints";
import { allocateExactly, type RoutingTables } from "../deploy/allocateExactly";
import { bestDeployment, type Constrained, gpusAllowed } from "../deploy/constrainedDeployment";
import { exactTables } from "../deploy/constrainedFinalist";
import { type GpuPrice, onMoreGpus } from "./prices";

/** A constraint without which the same thresholds would be faster, with the latency then relative to now. */
export interface ConstraintPrice {
  readonly says: string;
  readonly relativeLatency: number;
}

/** Time limit of the MILPs of one price; null is returned when it is not enough. */
const PRICE_SECONDS = 6;

/** A latency that is lower by less than this share does not count as lower: the MILPs stop within it. */
const NOTICEABLE = 0.005;

/**
 * The effect of more GPUs of each type on a routing under constraints or on several GPU types, and the constraints that limit it,
 * each by deploying again in the way of the plan.
 *
 * @param types the cluster's GPU types with the GPUs of their largest node; one GPU and one such node more are evaluated.
 * @returns latencies with all nodes up, relative to the plan's; null where none was found in time.
 */
export function constrainedPrices(
  input: Constrained,
  routing: number,
  types: readonly { readonly gpu: string; readonly nodeGpus: number }[],
): { readonly gpus: readonly GpuPrice[]; readonly constraints: readonly ConstraintPrice[] } {
  const own = exactTables(input, routing);
  const now = secondsOf(input, own);
  const relative = (other: Constrained, tables: RoutingTables): number | null => {
    const seconds = now === null ? null : secondsOf(other, tables);
    // The additional allowance need not be used.
    return seconds === null || now === null ? null : Math.min(1, seconds / now);
  };
  const { objective, constraints, cluster } = input;
  const gpus = types.flatMap(({ gpu, nodeGpus }) =>
    [...new Set([1, nodeGpus])].map((more) => {
      const nodes = [...cluster.nodes, { name: `${more} more`, gpus: more, gpu }];
      const { maxGpus } = constraints;
      const larger = {
        ...input,
        cluster: { ...cluster, nodes },
        objective: { ...objective, maxGpus: objective.maxGpus + more },
        constraints: { ...constraints, maxGpus: maxGpus === null ? null : maxGpus + more },
      };
      return { gpu, more, relativeLatency: relative(larger, { ...own, tables: onMoreGpus(own, gpu, more) }) };
    }),
  );
  const held = constraintsOf(constraints).flatMap((name): ConstraintPrice[] => {
    const relativeLatency = relative({ ...input, constraints: name.without(constraints) }, own);
    return relativeLatency === null || relativeLatency > 1 - NOTICEABLE ? [] : [{ says: name.says, relativeLatency }];
  });
  return { gpus, constraints: held };
}

/**
 * The least latency of a deployment by the tables; null where none was found. The lowest cost also has a latency, which is not used here.
 */
function secondsOf(input: Constrained, { explorer, routing, tables }: RoutingTables): number | null {
  const norms = tables.slice(0, explorer.rows(explorer.routing(routing)).length);
  const { latency, maxGpus } = input.objective;
  const gpus = gpusAllowed(input.cluster, input.constraints, maxGpus);
  const aim = allocateExactly({ explorer, routing, tables: norms }, { gpus, latency })?.stageSeconds ?? null;
  const found = bestDeployment(
    { ...input, objective: { ...input.objective, kind: "latency-under-quality" } },
    { routing, norms, aim, shapes: tables.map(({ capacity }) => capacity.shapes) },
    { seconds: PRICE_SECONDS, budgetSeconds: null, refine: true },
  );
  return found === null || found === "refused" ? null : found.seconds;
}

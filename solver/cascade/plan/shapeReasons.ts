import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { gpuOfNode, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { SolverReport } from "@/solver/plan/plan";
import { counted } from "@/solver/wording/wording";
import type { Deployed } from "../deploy/deployed";
import { gpusOf } from "../deploy/deployedStage";
import type { Explorer } from "../explore/explorer";
import { type CapacityTable, secondsOnReplicas } from "../tables/capacityTable";
import type { ShapeCount } from "../tables/shapeMix";

/** A smaller relative difference is reported as equally fast. */
const ALIKE = 0.005;

/** What one shape of a stage's replicas is compared with. */
export interface ShapeAsked {
  readonly table: CapacityTable;
  /** The replicas of the stage on one GPU type. */
  readonly replicas: readonly ShapeCount[];
  /** Shapes of this model on this GPU type: all that fit, including those that bring little. */
  readonly fitting: readonly Pick<ShapedReplica, "shape">[];
  /** GPUs of the largest node of the type. */
  readonly gpusPerNode: number;
}

/**
 * Why each stage of a deployment has its tensor parallelism and not the next smaller or larger, by the stage's own tables: one sentence for
 * each GPU type it runs on; the type is named where the cluster has several.
 */
export function shapeReasons(
  explorer: Explorer,
  cluster: ClusterSpec,
  { routing, deployment, tables }: Pick<Deployed, "routing" | "deployment" | "tables">,
): NonNullable<SolverReport["shapes"]> {
  const { stages } = explorer.routing(routing);
  return deployment.flatMap(({ model, replicas, hosted }, stage) => {
    const table = tables[stage]?.capacity;
    if (table === undefined || hosted !== undefined) return [];
    return [...new Set(replicas.map(({ gpu }) => gpu))].map((type) => {
      const says = shapeReason({
        table: { ...table, shapes: table.shapes.filter(({ gpu }) => gpu === type) },
        replicas: replicas.filter(({ gpu }) => gpu === type),
        fitting: (explorer.input.shapes[stages[stage] ?? 0] ?? []).filter(({ gpu }) => gpu === type),
        gpusPerNode: Math.max(...cluster.nodes.filter((node) => gpuOfNode(cluster, node) === type).map(({ gpus }) => gpus)),
      });
      return { model, says: gpuTypes(cluster).length > 1 ? `On ${type}: ${says}` : says };
    });
  });
}

/** Why replicas have their shape: the latency of their load on the same GPUs with only the next smaller or only the next larger tp. */
export function shapeReason(asked: ShapeAsked): string {
  const { replicas } = asked;
  const main = largest(replicas);
  if (main === undefined) return "No replica.";
  const { tp } = main.shape;
  const mixed = replicas.length > 1;
  const others = [...(tp > 1 ? [tp / 2] : []), ...(mixed ? [tp] : []), 2 * tp].map((other) => alone(asked, { ...main.shape, tp: other }));
  return `${replicas.map(shapeText).join(" and ")}: ${others.join("; ")}.`;
}

/** The result of one shape alone on the GPUs of a stage, as a part of a sentence. */
function alone({ table, replicas, fitting, gpusPerNode }: ShapeAsked, shape: ShapeCount["shape"]): string {
  const same = (other: ShapeCount["shape"]): boolean => other.tp === shape.tp && other.pp === shape.pp;
  const name = `tp ${shape.tp} alone`;
  if (shape.tp > gpusPerNode) return `${name} has no node of ${shape.tp} GPUs`;
  if (!fitting.some((one) => same(one.shape))) return `${name} does not fit`;
  const known = table.shapes.find((one) => same(one.shape));
  if (known === undefined) return `${name} is no better at any load by 3 % or more`;
  const gpus = gpusOf(replicas);
  const count = Math.floor(gpus / known.gpus);
  if (count === 0) return `${name} needs ${known.gpus} GPUs, of ${gpus} there are`;
  const requestsPerSecond = replicas.reduce((sum, own) => sum + own.count * own.requestsPerSecond, 0);
  const now = secondsOnReplicas(table, requestsPerSecond, replicas);
  const then = secondsOnReplicas(table, requestsPerSecond, [{ shape: known.shape, count }]);
  const on = `${name}, ${counted(count, "replica")},`;
  if (then === Number.POSITIVE_INFINITY) return `${on} is overloaded at this load`;
  const slower = then / now - 1;
  if (Math.abs(slower) < ALIKE) return `${on} would be just as fast`;
  const percent = `${(100 * Math.abs(slower)).toFixed(Math.abs(slower) < 0.1 ? 1 : 0)} %`;
  return slower > 0 ? `${on} would be ${percent} slower at this load` : `${on} would be ${percent} faster, were it not for the constraints`;
}

const largest = (replicas: readonly ShapeCount[]): ShapeCount | undefined =>
  replicas.reduce<ShapeCount | undefined>((most, own) => (most === undefined || gpusOf([own]) > gpusOf([most]) ? own : most), undefined);

const shapeText = ({ shape, count }: ShapeCount): string => `${count} × tp ${shape.tp}${shape.pp > 1 ? ` pp ${shape.pp}` : ""}`;

import { z } from "zod";
import { machineName, title } from "@/solver/wording/names";
import { modelLimitsSchema } from "../hardware/engineLimits";
import { hostedModelSchema } from "../hardware/hostedModel";

/** The GPUs one replica occupies: GPU indices on a node. Tensor parallelism never crosses a node; a pipeline may. */
export const placementSchema = z.object({ node: machineName, gpus: z.array(z.int().nonnegative()).min(1) });

/** A cluster as the planner sees it. */
export const clusterSpecSchema = z.object({
  id: machineName,
  name: title,
  /** `described`: there is nothing to connect to; the others specify how engines are started and found there. */
  kind: z.enum(["described", "embedded", "endpoints", "processes", "kubernetes", "ray"]),
  gpu: machineName,
  /**
   * A node with GPUs of another type names it. `engineOf`: the node stands for another model on the engine of that node, as an adapter does:
   * its GPUs are that node's, and exist once. `processor`: its "GPUs" are cores of its processor, on which so many programs run beside engines.
   */
  nodes: z
    .array(
      z.object({
        name: machineName,
        gpus: z.int().positive(),
        gpu: machineName.optional(),
        engineOf: machineName.optional(),
        processor: z.object({ programs: z.int().nonnegative() }).optional(),
      }),
    )
    .min(1),
  usdPerGpuHour: z.number().nonnegative(),
  /** Price of the other types' GPU hours, by type. */
  otherUsdPerGpuHour: z.record(machineName, z.number().nonnegative()).optional(),
  /** Models that providers host, which plans may use beside the cluster's own where the workload's data may leave; left out: none. */
  hosted: z.array(hostedModelSchema).max(20).optional(),
  /** Limits that engines run or will be started with; left out: engines' defaults are assumed. */
  engineLimits: z.array(modelLimitsSchema).optional(),
});

/** A replica that ran when the plan was made. */
export const runningReplicaSchema = z.object({
  model: machineName,
  shape: z.object({ tp: z.int().positive(), pp: z.int().positive() }),
  placements: z.array(placementSchema).min(1),
});

export type Placement = z.infer<typeof placementSchema>;

export type ClusterSpec = z.infer<typeof clusterSpecSchema>;

export type RunningReplica = z.infer<typeof runningReplicaSchema>;

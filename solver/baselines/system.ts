import { judgementsPerRequest } from "../cascade/routing/routing";
import type { ClusterReplica } from "../cluster/clusterEngines";
import type { ReplicaModel } from "../engine/replicaModel";
import { type EngineLimits, withLimits } from "../hardware/engineLimits";
import type { ReplicaShape } from "../hardware/parallelism";
import type { ShapedReplica } from "../hardware/replicaShapes";
import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import type { CascadePolicy, PlanDraft } from "../plan/plan";
import type { OutcomeTable } from "../workload/workload";

/** The replicas of one model of a system. */
export interface SystemStage {
  readonly model: string;
  readonly replicas: readonly { readonly shape: ReplicaShape; readonly count: number }[];
  /** Settings of its engines, where the system sets any; left out: those of the shapes. */
  readonly limits?: EngineLimits;
}

/**
 * How a system picks the model that answers. A cascade judges answers and escalates those below a threshold; a router scores
 * prompts before any model has answered, and its requests reach one model only.
 */
type SystemRouting =
  | {
      readonly kind: "cascade";
      readonly thresholds: readonly number[];
      /** Where requests may start at a later stage, and the outcome table with the router's scores; left out: all start at the first. */
      readonly directStart?: NonNullable<CascadePolicy["directStart"]> & { readonly prescored: OutcomeTable };
    }
  | {
      readonly kind: "router";
      /** Whether its scores are those of trained heads; else they are modelled. */
      readonly trained: boolean;
      readonly thresholds: readonly number[];
      /** The outcome table with the router's scores of the prompts. */
      readonly prescored: OutcomeTable;
      /** Lower bound of its quality, calibrated over the router's own settings. */
      readonly qualityLow: number;
    };

/** A serving system under comparison: its replicas, and which model answers which request. */
export interface System {
  readonly name: string;
  readonly stages: readonly SystemStage[];
  readonly routing: SystemRouting;
}

/** A baseline's result for one situation; a baseline that cannot reach the floor or does not fit reports that. */
export type Baseline =
  | { readonly outcome: "system"; readonly system: System }
  | { readonly outcome: "none"; readonly name: string; readonly reason: string };

/** The replicas that can serve a ladder, by model. */
export interface ReplicaChoice {
  readonly models: readonly string[];
  /** Parallel to `models`. */
  readonly shapes: readonly (readonly ShapedReplica[])[];
  /** What an engine is where it is not as modelled, by its id and its model; left out: as modelled. No plan sees it. */
  readonly truth?: (modelled: ReplicaModel, engineId: string) => ReplicaModel;
}

export const gpusOf = ({ stages }: Pick<System, "stages">): number =>
  stages.reduce((sum, { replicas }) => sum + replicas.reduce((own, { shape, count }) => own + shape.tp * shape.pp * count, 0), 0);

/** Judge calls of the system for each request, on average. */
export const judgementsOf = ({ routing }: Pick<System, "routing">, share: readonly number[]): number =>
  routing.kind === "cascade" ? judgementsPerRequest(share, routing.thresholds) : 0;

/** Models, shapes and thresholds in one line. */
export const cascadeText = ({ stages, routing }: Pick<System, "stages" | "routing">): string =>
  stages
    .map(({ model, replicas }, stage) => {
      const shapes = replicas.map(({ shape, count }) => `${count} × tp ${shape.tp}${shape.pp > 1 ? ` pp ${shape.pp}` : ""}`).join(" + ");
      const threshold = routing.thresholds[stage];
      return `${model} (${shapes})${threshold === undefined ? "" : ` <${threshold}→ `}`;
    })
    .join("");

/** The engines of a system for the cluster simulator. @throws when a shape is not one of the model's. */
export function clusterReplicas({ stages }: Pick<System, "stages">, { models, shapes, truth }: ReplicaChoice): ClusterReplica[] {
  return stages.flatMap(({ model, replicas, limits = {} }) =>
    replicas.flatMap(({ shape, count }) => {
      const { tp, pp } = shape;
      const found = shapes[models.indexOf(model)]?.find((one) => one.shape.tp === tp && one.shape.pp === pp);
      if (found === undefined) throw new Error(`no replica of ${model} with tp ${tp} and pp ${pp}`);
      const modelled = withLimits(found.replica, limits);
      return Array.from({ length: count }, (_, index) => {
        const id = `${model} ${tp}x${pp} ${index}`;
        return { id, model, replica: truth?.(modelled, id) ?? modelled, maxInFlight: MAX_SEQUENCES };
      });
    }),
  );
}

/**
 * The plan as a system to simulate.
 *
 * @param outcomes the whole table, with the router's scores where the plan has a direct start.
 */
export const systemOf = ({ deployment, policy }: PlanDraft, outcomes: OutcomeTable): System => ({
  name: "Weir",
  stages: policy.stages.map(({ model }) => ({
    model,
    replicas: (deployment.find((own) => own.model === model)?.replicas ?? []).map(({ tp, pp, count }) => ({ shape: { tp, pp }, count })),
  })),
  routing: {
    kind: "cascade",
    thresholds: policy.thresholds,
    ...(policy.directStart === undefined ? {} : { directStart: { ...policy.directStart, prescored: outcomes } }),
  },
});

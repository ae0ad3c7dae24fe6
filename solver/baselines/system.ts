import { judgementsOf as judgements, type Routed } from "../cascade/routing/routing";
import type { JudgeEngine } from "../cascade/tables/judgeTables";
import type { ClusterReplica } from "../cluster/clusterEngines";
import type { ReplicaModel } from "../engine/replicaModel";
import { type EngineLimits, withLimits } from "../hardware/engineLimits";
import type { ReplicaShape } from "../hardware/parallelism";
import type { ShapedReplica } from "../hardware/replicaShapes";
import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import type { CascadePolicy, PlanDraft } from "../plan/plan";
import { gatePeersOf, judgeEngineOf } from "../plan/policySchema";
import type { StageGates } from "../stageGates/stageGate";
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
      /** What scores its answers, on the whole outcome table; left out: the judge, all of them. */
      readonly gates?: StageGates | undefined;
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

/** Engines that judge, and the tokens that a judgement reads in addition to prompt and answer, and writes. */
interface DeployedJudge extends Pick<JudgeEngine, "rubricTokens" | "outputTokens"> {
  readonly engines: SystemStage;
}

/** A serving system under comparison: its replicas, and which model answers which request. */
export interface System {
  readonly name: string;
  readonly stages: readonly SystemStage[];
  /** Models that answer for the gates of its cascade alone; left out: none. */
  readonly peers?: readonly SystemStage[];
  /** A judge that has engines of its own; left out: a judgement takes the time that the traffic says. */
  readonly judge?: DeployedJudge;
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

/** Everything that a system deploys: its stages, peers and judge. */
export const deployedBy = ({ stages, peers = [], judge }: Pick<System, "stages" | "peers" | "judge">): readonly SystemStage[] => [
  ...stages,
  ...peers,
  ...(judge === undefined ? [] : [judge.engines]),
];

export const gpusOf = (system: Pick<System, "stages" | "peers" | "judge">): number =>
  deployedBy(system).reduce(
    (sum, { replicas }) => sum + replicas.reduce((own, { shape, count }) => own + shape.tp * shape.pp * count, 0),
    0,
  );

/** Judge calls of the system for each request, on average. */
export const judgementsOf = ({ routing }: Pick<System, "routing">, routed: Pick<Routed, "share" | "judgements">): number =>
  routing.kind === "cascade" ? judgements(routed, routing.thresholds) : 0;

/** Models, shapes and thresholds in one line. */
export function cascadeText(system: Pick<System, "stages" | "peers" | "judge" | "routing">): string {
  const { stages, routing } = system;
  const named = ({ model, replicas }: SystemStage): string =>
    `${model} (${replicas.map(({ shape, count }) => `${count} × tp ${shape.tp}${shape.pp > 1 ? ` pp ${shape.pp}` : ""}`).join(" + ")})`;
  const cascade = stages.map((own, stage) => {
    const threshold = routing.thresholds[stage];
    return `${named(own)}${threshold === undefined ? "" : ` <${threshold}→ `}`;
  });
  const beside = deployedBy(system).slice(stages.length);
  return `${cascade.join("")}${beside.map((own) => `, for its gates ${named(own)}`).join("")}`;
}

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
 * @param scoring the plan's gates on that table, where it names any, and whether its judge's engines are simulated; left out: a judge outside of
 * the deployment scores all answers.
 */
export function systemOf(
  { deployment, policy }: PlanDraft,
  outcomes: OutcomeTable,
  { gates, withJudge = false }: { readonly gates?: StageGates | undefined; readonly withJudge?: boolean } = {},
): System {
  const deployed = (model: string): SystemStage => ({
    model,
    replicas: (deployment.find((own) => own.model === model)?.replicas ?? []).map(({ tp, pp, count }) => ({ shape: { tp, pp }, count })),
  });
  const judging = withJudge ? judgeEngineOf(policy) : null;
  return {
    name: "Weir",
    stages: policy.stages.map(({ model }) => deployed(model)),
    ...(gates === undefined ? {} : { peers: gatePeersOf(policy).map(deployed) }),
    ...(judging === null || policy.judge.engine === undefined ? {} : { judge: { engines: deployed(judging), ...policy.judge.engine } }),
    routing: {
      kind: "cascade",
      thresholds: policy.thresholds,
      ...(gates === undefined ? {} : { gates }),
      ...(policy.directStart === undefined ? {} : { directStart: { ...policy.directStart, prescored: outcomes } }),
    },
  };
}

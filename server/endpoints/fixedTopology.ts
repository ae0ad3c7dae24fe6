import type { Outcome } from "@/server/contracts/studio";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { ModelLimits } from "@/solver/hardware/engineLimits";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import { allowsReplica, noConstraints } from "@/solver/plan/constraints";
import { endpointNodes } from "./attachedEngines";
import { attachedTopology } from "./attachedTopology";
import type { Endpoint, EndpointConnection } from "./connection";

/** The request for a plan over attached engines. */
export interface FixedTopologyRequest {
  readonly cluster: ClusterSpec;
  readonly userCards: UserCards;
  /** Models of the workload. */
  readonly models: readonly string[];
  readonly constraints: PlanningSituation["constraints"];
  readonly judge: PlanningSituation["judge"];
}

/** The part of a planning situation that follows from the engines. */
export type FixedTopology = Required<Pick<PlanningSituation, "cluster" | "models" | "running" | "userCards" | "topology">>;

/**
 * The planning input with given engines: every engine of a model of the workload stays unchanged, and so do those of the judge, if one is
 * requested. Models that are not attached cannot be routed to, and engines of models that the workload does not contain or that are
 * excluded get nothing: `notes` says so, a sentence each.
 */
export function fixedTopology(
  connection: EndpointConnection,
  { cluster, userCards, models, constraints, judge }: FixedTopologyRequest,
): Outcome<{ readonly part: FixedTopology; readonly notes: readonly string[] }> {
  const excluded = constraints?.excluded ?? [];
  const judgeModel = judge?.kind === "engine" ? judge.model : null;
  const attached = new Set(connection.endpoints.map(({ model }) => model));
  const known = models.filter((model) => attached.has(model));
  const routed = known.filter((model) => !excluded.includes(model));
  const away = models.filter((model) => !attached.has(model));
  const idle = [...attached].filter((model) => !routed.includes(model) && model !== judgeModel);
  if (routed.length === 0)
    return {
      ok: false,
      message: `No engine of ${cluster.name} serves a model of the workload that may be used: it knows ${models.join(", ")}, and attached are ${[...attached].join(", ")}.`,
    };
  if (judgeModel !== null && !attached.has(judgeModel))
    return { ok: false, message: `No engine of ${judgeModel} is attached to ${cluster.name}, so it cannot judge there.` };
  const shared = judgeModel === null ? undefined : routed.find((model) => sharesEngine(connection, [model, judgeModel]));
  if (shared !== undefined)
    return {
      ok: false,
      message: `${judgeModel} and ${shared} are served by one engine of ${cluster.name}: a judge there is not planned. Leave ${shared} out, or use another judge.`,
    };

  const frozenWith = (used: readonly string[]) => {
    const endpoints = connection.endpoints.filter(({ model }) => used.includes(model) || model === judgeModel);
    return attachedTopology({ ...connection, endpoints }, { id: cluster.id, name: cluster.name, userCards });
  };
  // Excluded models are part of the situation, so that a conflict can offer them; one that cannot be planned with is left out.
  const whole = frozenWith(known);
  const planned = whole.ok ? known : routed;
  const frozen = whole.ok ? whole : frozenWith(routed);
  if (!frozen.ok) return frozen;
  const limits = endpointLimits(connection.endpoints.filter(({ model }) => planned.includes(model) || model === judgeModel));
  const part: FixedTopology = {
    cluster: limits.length === 0 ? cluster : { ...cluster, engineLimits: limits },
    models: planned,
    running: frozen.running,
    topology: "given",
    userCards: frozen.userCards,
  };
  const barred = frozen.running.filter(
    (replica) => routed.includes(replica.model) && !allowsReplica(constraints ?? noConstraints, replica),
  );
  const unjudged = connection.judge === null && judgeModel === null;
  const notes = [
    ...leftOut(away, cluster.name),
    ...unused(idle, cluster.name),
    ...ruledOut(barred),
    ...(unjudged ? [nobodyJudges(cluster.name)] : []),
  ];
  return { ok: true, part, notes };
}

/** Whether one engine serves both of two different models. */
function sharesEngine({ endpoints }: EndpointConnection, [one, other]: readonly [string, string]): boolean {
  const { nodes } = endpointNodes({ endpoints });
  const enginesOf = (model: string): readonly string[] =>
    endpoints.flatMap((endpoint, index) => (endpoint.model === model ? [nodes[index]?.engineOf ?? endpoint.name] : []));
  return one !== other && enginesOf(one).some((engine) => enginesOf(other).includes(engine));
}

const nobodyJudges = (cluster: string): string =>
  `Nobody judges answers on ${cluster}: only plans of one stage can be applied, unless the judge is one of its engines or its connection names one.`;

function leftOut(models: readonly string[], cluster: string): readonly string[] {
  if (models.length === 0) return [];
  return [`Left out, since no engine of ${models.length === 1 ? "it" : "them"} is attached to ${cluster}: ${models.join(", ")}.`];
}

/** Each engine is alone on a node of its own name. */
function ruledOut(replicas: readonly RunningReplica[]): readonly string[] {
  if (replicas.length === 0) return [];
  const names = replicas.flatMap(({ placements }) => placements.map(({ node }) => node));
  return [`The constraints on shapes and nodes leave these engines without requests: ${names.join(", ")}.`];
}

function unused(models: readonly string[], cluster: string): readonly string[] {
  if (models.length === 0) return [];
  return [
    `Engines of ${models.join(", ")} on ${cluster} get no requests: the workload does not know ${models.length === 1 ? "it" : "them"}, or the constraints exclude ${models.length === 1 ? "it" : "them"}.`,
  ];
}

const least = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.flatMap((value) => (value === undefined ? [] : [value]));
  return known.length === 0 ? undefined : Math.min(...known);
};

/**
 * Limits of each model's engines for the planner, which models engines of one shape in the same way: the lowest known one of any of them. A
 * model without a known limit has no entry.
 */
export function endpointLimits(endpoints: readonly Endpoint[]): ModelLimits[] {
  return [...new Set(endpoints.map(({ model }) => model))].flatMap((model): ModelLimits[] => {
    const known = endpoints.flatMap((one) => (one.model === model && one.limits !== undefined ? [one.limits] : []));
    const maxSequences = least(known.map((limits) => limits.maxSequences));
    const maxBatchedTokens = least(known.map((limits) => limits.maxBatchedTokens));
    if (maxSequences === undefined && maxBatchedTokens === undefined) return [];
    return [
      {
        model,
        ...(maxSequences === undefined ? {} : { maxSequences }),
        ...(maxBatchedTokens === undefined ? {} : { maxBatchedTokens }),
        source: known.every(({ source }) => source === "engine") ? "engine" : "operator",
      },
    ];
  });
}

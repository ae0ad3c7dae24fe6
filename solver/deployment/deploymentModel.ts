import { rateWithin } from "../engine/loadCurve";
import type { MilpModel, Row, Term, Variable } from "../milp/model";
import { type Expression, rowOf, scaled, sumOf, variableOf } from "./expression";
import { keepable } from "./keepable";
import { type NodeGroup, nodeGroups, packingLimits } from "./nodeGroups";
import type { DeploymentProblem, ReplicaOption } from "./problem";
import { type ReplicaKind, replicaKinds } from "./replicaKinds";

/** Replicas of one kind. */
interface Layout extends ReplicaKind {
  /** Number of such replicas. */
  readonly replicas: Expression;
}

/** Blocks of a layout on a group of nodes. */
interface BlockColumn {
  readonly layout: Layout;
  readonly group: number;
  readonly variable: number;
}

/** Running replicas that have the same shape and place and may stay. */
interface KeptColumn {
  readonly stage: number;
  readonly option: ReplicaOption;
  readonly share: number;
  /** Indices into the problem's running replicas. */
  readonly running: readonly number[];
  readonly gpusByNode: ReadonlyMap<number, number>;
  readonly variable: number;
}

/** The deployment as a MILP, with the meaning of its columns and the expressions for goals and relaxations. */
export interface DeploymentModel {
  readonly milp: MilpModel;
  readonly groups: readonly NodeGroup[];
  readonly blocks: readonly BlockColumn[];
  readonly kept: readonly KeptColumn[];
  readonly gpus: Expression;
  readonly usdPerHour: Expression;
  /** Numbers of replicas started and stopped. */
  readonly changes: Expression;
  /** Number of replicas per stage. */
  readonly replicas: readonly Expression[];
  /** Number of nodes beyond the first that pipelines use. */
  readonly crossings: Expression;
}

export interface ModelAsked {
  /** Weighted latency limit of every stage; Infinity where any simulated latency is allowed. */
  readonly limitSeconds: number;
  /** The share of its load, slightly above 1, that every stage must sustain. */
  readonly load: number;
  /** Whether running replicas are distinguished from new ones. */
  readonly keep: boolean;
}

/**
 * All deployments that serve the stages within a latency and keep the constraints, as integer points. One integer per layout and group
 * of nodes counts blocks. Where a node may be lost, each node is a separate group and a pipeline is divided equally over one, two, four ...
 * different nodes, so that each block on a lost node is one replica lost; else the parts of tp GPUs are anywhere on nodes of the type.
 */
export function deploymentModel(problem: DeploymentProblem, { limitSeconds, load, keep }: ModelAsked): DeploymentModel {
  const { stages, nodes, constraints, running, usdPerGpuHour } = problem;
  const survive = constraints.surviveNodeLoss;
  const stays = keep ? keepable(problem) : [];
  const apart = new Set(stays.flatMap(({ gpusByNode }) => [...gpusByNode.keys()]));
  const groups = nodeGroups(problem, (node) => survive || apart.has(node));
  const variables: Variable[] = [];
  const rows: Row[] = [];
  const integer = (name: string, upper: number): number => variables.push({ name, lower: 0, upper, cost: 0, integer: true }) - 1;
  const shareOf = (stage: number, { curve }: ReplicaOption): number => {
    const { requestsPerSecond = 0, latencyWeight = 1 } = stages[stage] ?? {};
    if (requestsPerSecond <= 0) return Number.POSITIVE_INFINITY;
    const ownLimit = limitSeconds / latencyWeight;
    // At the end of its curve a replica may sustain exactly the load; the margin for the latency's sake does not apply to it.
    const spare = ownLimit >= (curve.seconds[curve.seconds.length - 1] ?? 0) ? load * load : 1;
    // More than the whole load would only affect the scale of the rows.
    return Math.min((spare * rateWithin(curve, ownLimit)) / requestsPerSecond, 2);
  };

  const blocks: BlockColumn[] = [];
  const layouts: Layout[] = [];
  for (const [index, kind] of replicaKinds(problem, shareOf, keep).entries()) {
    const { stage, option, blocks: parts, blockGpus } = kind;
    const columns = groups.flatMap(({ gpu, allowed, nodes: members }, group) => {
      const room = members.reduce((sum, node) => sum + Math.floor((nodes[node]?.gpus ?? 0) / blockGpus), 0);
      if (gpu !== option.gpu || allowed[stage] !== true || room === 0) return [];
      return [{ group, variable: integer(`y_${index}_${group}`, room) }];
    });
    if (columns.length === 0) continue;
    const all: Expression = { terms: columns.map(({ variable }) => ({ variable, coefficient: 1 })), constant: 0 };
    let replicas = all;
    if (parts > 1 || survive) {
      const variable = integer(`r_${index}`, Math.floor(nodes.reduce((sum, { gpus }) => sum + gpus, 0) / (parts * blockGpus)));
      replicas = variableOf(variable);
      rows.push(rowOf(`parts_${index}`, sumOf([all, scaled(replicas, -parts)]), "=", 0));
      // On different nodes: then no replica has two blocks on one.
      if (survive && parts > 1)
        for (const column of columns)
          rows.push(rowOf(`apart_${index}_${column.group}`, sumOf([variableOf(column.variable), scaled(replicas, -1)]), "<=", 0));
    }
    const layout: Layout = { ...kind, replicas };
    layouts.push(layout);
    for (const column of columns) blocks.push({ layout, ...column });
  }
  const kept = stays.flatMap((stay, index): KeptColumn[] => {
    const share = shareOf(stay.stage, stay.option);
    return share > 0 ? [{ ...stay, share, variable: integer(`k_${index}`, stay.running.length) }] : [];
  });

  const gpuTerms = (gpu?: string): Expression => ({
    terms: [
      ...blocks.flatMap(({ layout, variable }): Term[] =>
        gpu === undefined || layout.option.gpu === gpu ? [{ variable, coefficient: layout.blockGpus }] : [],
      ),
      ...kept.flatMap(({ option, variable }): Term[] =>
        gpu === undefined || option.gpu === gpu ? [{ variable, coefficient: option.shape.tp * option.shape.pp }] : [],
      ),
    ],
    constant: 0,
  });
  const types = [...new Set(nodes.map(({ gpu }) => gpu))];
  const gpus = gpuTerms();
  const usdPerHour = sumOf(types.map((gpu) => scaled(gpuTerms(gpu), usdPerGpuHour[gpu] ?? 0)));
  const started = sumOf(layouts.map((layout) => layout.replicas));
  const staying = sumOf(kept.map(({ variable }) => variableOf(variable)));
  const changes: Expression = sumOf([started, scaled(staying, -1), { terms: [], constant: running.length }]);
  const replicas = stages.map((_, stage) =>
    sumOf([
      ...layouts.filter((layout) => layout.stage === stage).map((layout) => layout.replicas),
      ...kept.filter((column) => column.stage === stage).map(({ variable }) => variableOf(variable)),
    ]),
  );
  const crossings = sumOf(layouts.map((layout) => scaled(layout.replicas, layout.blocks - 1)));

  for (const [group, { nodes: members }] of groups.entries()) {
    const here = blocks.filter((column) => column.group === group);
    const staysHere = members.length === 1 ? kept.filter(({ gpusByNode }) => gpusByNode.has(members[0] ?? -1)) : [];
    const sizes = here.map(({ layout }) => layout.blockGpus);
    for (const { size, slots } of packingLimits(
      members.map((node) => nodes[node]?.gpus ?? 0),
      sizes,
    )) {
      const used = here
        .filter(({ layout }) => layout.blockGpus >= size)
        .map(({ layout, variable }) => variableOf(variable, layout.blockGpus / size));
      const held = staysHere.map(({ gpusByNode, variable }) => variableOf(variable, gpusByNode.get(members[0] ?? -1) ?? 0));
      rows.push(rowOf(`room_${group}_${size}`, sumOf([...used, ...held]), "<=", slots));
    }
  }
  for (const [stage, { requestsPerSecond }] of stages.entries()) {
    if (requestsPerSecond <= 0) continue;
    const carried = sumOf([
      ...layouts.filter((layout) => layout.stage === stage).map((layout) => scaled(layout.replicas, layout.share)),
      ...kept.filter((column) => column.stage === stage).map(({ variable, share }) => variableOf(variable, share)),
    ]);
    if (!survive) {
      rows.push(rowOf(`load_${stage}`, carried, ">=", load));
      continue;
    }
    const lost = variables.push({ name: `lost_${stage}`, lower: 0, upper: Number.POSITIVE_INFINITY, cost: 0, integer: false }) - 1;
    rows.push(rowOf(`load_${stage}`, sumOf([carried, variableOf(lost, -1)]), ">=", load));
    // Implied by integrality, but found slowly by branching over single nodes: some node has its even part, rounded up.
    for (const [index, layout] of layouts.entries()) {
      if (layout.stage !== stage) continue;
      const most = integer(`most_${index}`, Math.floor(Math.max(...nodes.map(({ gpus }) => gpus)) / layout.blockGpus));
      const places = blocks.filter((column) => column.layout === layout).length;
      rows.push(rowOf(`even_${index}`, sumOf([scaled(layout.replicas, layout.blocks), variableOf(most, -places)]), "<=", 0));
      rows.push(rowOf(`worst_${index}`, sumOf([variableOf(most, layout.share), variableOf(lost, -1)]), "<=", 0));
    }
    for (const [group, { nodes: members }] of groups.entries()) {
      const here = sumOf([
        ...blocks
          .filter((column) => column.group === group && column.layout.stage === stage)
          .map(({ layout, variable }) => variableOf(variable, layout.share)),
        ...kept
          .filter((column) => column.stage === stage && column.gpusByNode.has(members[0] ?? -1))
          .map(({ variable, share }) => variableOf(variable, share)),
      ]);
      if (here.terms.length > 0) rows.push(rowOf(`lost_${stage}_${group}`, sumOf([here, variableOf(lost, -1)]), "<=", 0));
    }
  }
  for (const [stage, { model }] of stages.entries()) {
    const pinned = constraints.pinned.filter((pin) => pin.model === model).map((pin) => pin.replicas);
    const least = Math.max(0, constraints.minReplicasPerModel ?? 0, ...pinned);
    if (least > 0) rows.push(rowOf(`least_${stage}`, replicas[stage] ?? sumOf([]), ">=", least));
  }
  for (const [index, pin] of constraints.pinned.entries())
    if (stages.every(({ model }) => model !== pin.model)) rows.push(rowOf(`absent_${index}`, sumOf([]), ">=", pin.replicas));
  const { maxUsdPerHour, maxGpus, maxChangedReplicas, idleGpus } = constraints;
  if (maxUsdPerHour !== null) rows.push(rowOf("usd", usdPerHour, "<=", maxUsdPerHour));
  if (maxGpus !== null) rows.push(rowOf("gpus", gpus, "<=", maxGpus));
  if (maxChangedReplicas !== null) rows.push(rowOf("changes", changes, "<=", maxChangedReplicas));
  if (!idleGpus)
    rows.push(
      rowOf(
        "idle",
        gpus,
        "=",
        nodes.reduce((sum, node) => sum + node.gpus, 0),
      ),
    );
  return { milp: { name: "deployment", variables, rows }, groups, blocks, kept, gpus, usdPerHour, changes, replicas, crossings };
}

import { MAX_SEQUENCES, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { secondsText } from "@/solver/wording/wording";
import type { Explorer } from "../explore/explorer";
import { replicasFor } from "../tables/capacityTable";
import { hostedUses } from "../tables/hostedStages";
import { type Allocated, allocateExactly, confirm, type RoutingTables } from "./allocateExactly";
import { isConstrained } from "./constrainedDeployment";
import { deployConstrained } from "./constrainedFinalist";
import { type Deployed, type FinalistInput, type ToDeploy, withoutNode } from "./deployed";
import { type DeployedStage, gpusOf, loadOf } from "./deployedStage";
import { placeReplicas } from "./placeReplicas";
import { simulateWhole, type WholeSimulation } from "./wholeSimulation";

/** A deployed routing that was simulated whole. */
export interface Finalist extends Deployed, WholeSimulation {
  /** The latency that a budget applies to: the objective latency, or that after the loss of the worst node where it is to be survived. */
  readonly heldSeconds: number;
}

/**
 * Deploys one routing with tables simulated for exactly its own requests. The MILP gives GPUs to stages (compared with the exact
 * allocation) or, under constraints and on several GPU types, places replicas on named nodes. Then the whole cascade is simulated under
 * the policy that the gateway runs, and once more without the node whose loss is worst by the tables where a loss is to be survived.
 *
 * @returns `refused` when the constraints rule it out; null when it does not sustain the load, or its replicas do not fit the nodes.
 */
export function deployFinalist(input: FinalistInput, asked: ToDeploy): Finalist | "refused" | null {
  input.progress("deploying");
  const unlimited = isConstrained(input) ? deployConstrained(input, asked) : deployPlainly(input, asked);
  if (unlimited === null || unlimited === "refused") return unlimited;
  const limited = (stages: readonly DeployedStage[]) => limitInFlight(input.explorer, asked.routing, stages);
  const deployed = { ...unlimited, deployment: limited(unlimited.deployment), kept: limited(unlimited.kept) };
  input.progress("simulating");
  const whole = simulateWhole(input, input.policyOf(asked.routing), deployed);
  if (whole === null || deployed.loss === null)
    return whole === null ? null : { ...deployed, ...whole, heldSeconds: whole.verifiedSeconds };
  const { node } = deployed.loss;
  const left = simulateWhole(input, input.policyOf(asked.routing), withoutNode(deployed, node));
  if (left === null) return null;
  const heldSeconds = Math.max(whole.verifiedSeconds, left.verifiedSeconds);
  const says = [
    `Whichever node is lost, the rest answers within ${secondsText(heldSeconds)}, simulated whole without ${node}; with every node within ${secondsText(whole.verifiedSeconds)}.`,
    ...deployed.says,
  ];
  return { ...deployed, ...whole, heldSeconds, says };
}

/** On one GPU type and without constraints: GPUs per stage first, then the best replicas on them. */
function deployPlainly({ explorer, cluster, objective, engine }: FinalistInput, { routing, gpus: most }: ToDeploy): Deployed | null {
  const { stages } = explorer.routing(routing);
  const tables = explorer.rows(explorer.routing(routing)).map((row) => row.exact());
  const own = { explorer, routing, tables };
  // Nodes whose GPU count is no power of two may have no room for the last group: then the same is tried on fewer GPUs.
  const hosted = hostedUses(explorer.input, explorer.routing(routing));
  for (let gpus = Math.min(most, explorer.input.maxGpus); gpus + hosted.length >= tables.length; gpus -= 1) {
    const allocated = allocateExactly(own, { gpus, latency: objective.latency });
    if (allocated === null) return null;
    const placed = place(stagesOn(own, allocated), cluster);
    if (placed === null) continue;
    const [deployment, kept] = [placed.slice(0, stages.length), placed.slice(stages.length)];
    const { tableSeconds } = allocated;
    return { routing, deployment, kept, tables, tableSeconds, proof: confirm(engine, allocated), loss: null, says: [] };
  }
  return null;
}

function stagesOn({ explorer, routing, tables }: RoutingTables, { gpus }: Pick<Allocated, "gpus">): Omit<DeployedStage, "groups">[] | null {
  const deployed: Omit<DeployedStage, "groups">[] = [];
  const uses = hostedUses(explorer.input, explorer.routing(routing));
  for (const [row, { model, requestsPerSecond }] of explorer.rows(explorer.routing(routing)).entries()) {
    const capacity = tables[row]?.capacity;
    const best = capacity === undefined ? null : replicasFor(capacity, requestsPerSecond, gpus[row] ?? 0);
    if (best === null || capacity === undefined) return null;
    const { replicas, seconds } = best;
    const use = uses.find(({ stage }) => stage === row);
    const load = loadOf(capacity, replicas, requestsPerSecond);
    const stage = { model, replicas, tableSeconds: seconds, ...load };
    deployed.push(use === undefined ? { ...stage, gpus: gpusOf(replicas) } : { ...stage, gpus: 0, hosted: use.model });
  }
  return deployed;
}

function place(stages: readonly Omit<DeployedStage, "groups">[] | null, cluster: ClusterSpec): DeployedStage[] | null {
  if (stages === null) return null;
  const wanted = stages.flatMap(({ replicas, hosted }, stage) =>
    (hosted === undefined ? replicas : []).flatMap(({ shape, count }, group) =>
      Array.from({ length: count }, () => ({ key: stage * 64 + group, shape })),
    ),
  );
  const placed = placeReplicas(wanted, cluster.nodes);
  if (placed === null) return null;
  return stages.map((stage, index) => {
    const rate = stage.replicas.reduce((sum, { count, requestsPerSecond }) => sum + count * requestsPerSecond, 0);
    const groups = stage.replicas.map(({ shape, count, requestsPerSecond }, group) => ({
      ...shape,
      count,
      shareEach: requestsPerSecond / rate,
      placements: placed.filter(({ key }) => key === index * 64 + group).map(({ placements }) => [...placements]),
    }));
    return { ...stage, groups };
  });
}

/**
 * Deployed stages with the limit of each replica: the number of requests that it may hold at once. Further requests wait in the gateway and
 * go to the next replica that has room.
 *
 * On one GPU type the limit is the number that fits the replica's cache, so that none waits at a full replica while another has room. On
 * several types replicas differ in speed: the limits are in proportion to the planned shares of the load, so that the replica that is least
 * loaded relative to its limit gets exactly that share and all have the same latency. A model kept without load has no limit.
 */
function limitInFlight(explorer: Explorer, routing: number, stages: readonly DeployedStage[]): readonly DeployedStage[] {
  const rows = explorer.rows(explorer.routing(routing));
  return stages.map((stage) => {
    const { hosted } = stage;
    if (hosted !== undefined) return { ...stage, groups: stage.groups.map((group) => ({ ...group, maxInFlight: hosted.maxInFlight })) };
    const row = rows.find(({ model }) => model === stage.model);
    if (row === undefined) return stage;
    const own = shapesOfModel(explorer.input, stage.model);
    const most = mostInFlight(own);
    const limits = new Set(stage.replicas.map(({ gpu }) => gpu)).size > 1 ? byShare(stage, most) : byCache(stage, own, row.heldTokens());
    return { ...stage, groups: stage.groups.map((group, index) => ({ ...group, maxInFlight: limits[index] ?? most })) };
  });
}

/** The replica shapes of a deployed model: of the ladder, the judge or a peer. */
function shapesOfModel({ sample, shapes, judgeEngine, gates }: Explorer["input"], model: string): Explorer["input"]["shapes"][number] {
  const beside = [...(judgeEngine === undefined ? [] : [judgeEngine]), ...(gates?.peers ?? [])].find((own) => own.model === model);
  return beside?.shapes ?? shapes[sample.models.indexOf(model)] ?? [];
}

/** An engine that holds only as many requests as it runs is idle while its front end processes the next: it may hold some more. */
const IN_FLIGHT_A_SEQUENCE = 2;

/** Maximum number of requests that one replica holds at once: further requests wait where the policy orders them. */
export function mostInFlight(shapes: readonly Pick<ShapedReplica, "replica">[]): number {
  const sequences = Math.max(1, ...shapes.map(({ replica }) => replica.maxSequences));
  return shapes.length === 0 ? MAX_SEQUENCES : Math.min(MAX_SEQUENCES, IN_FLIGHT_A_SEQUENCE * sequences);
}

function byShare({ groups }: DeployedStage, most: number): readonly number[] {
  const largest = Math.max(...groups.map(({ shareEach }) => shareEach));
  return groups.map(({ shareEach }) => Math.max(1, Math.round((most * shareEach) / largest)));
}

function byCache({ replicas }: DeployedStage, shapes: readonly ShapedReplica[], heldTokens: number): readonly number[] {
  return replicas.map(({ shape }) => {
    const kvTokens = shapes.find((candidate) => candidate.shape === shape)?.replica.kvTokens ?? 0;
    return Math.max(1, Math.min(mostInFlight(shapes), Math.floor(kvTokens / heldTokens)));
  });
}

import type { DeployedStage as StageReplicas } from "@/solver/deployment/solveDeployment";
import { counted } from "@/solver/wording/wording";
import type { CapacityTable } from "../tables/capacityTable";
import type { ShapeCount } from "../tables/shapeMix";
import { allocateExactly, type RoutingTables } from "./allocateExactly";
import { bestDeployment, type Constrained, rowsToDeploy, type TimedDeployment } from "./constrainedDeployment";
import type { Deployed, ToDeploy } from "./deployed";
import { type DeployedStage, gpusOf, loadOf, mainGpu } from "./deployedStage";

/** Time limit of all MILPs of one deployment; on a timeout the best found so far is used and its optimality gap is reported. */
const DEPLOYMENT_SECONDS = 4;

/** One routing on named nodes under the constraints, by its own tables; `refused` when the constraints rule it out. */
export function deployConstrained(input: Constrained, { routing, gpus, budgetSeconds }: ToDeploy): Deployed | "refused" | null {
  const { explorer, objective } = input;
  const own = exactTables(input, routing);
  const cascade = explorer.routing(routing);
  const stages = cascade.stages.length;
  const tables = own.tables.slice(0, explorer.rows(cascade).length);
  const aim = allocateExactly({ ...own, tables }, { gpus, latency: objective.latency })?.stageSeconds ?? null;
  const shapes = own.tables.map(({ capacity }) => capacity.shapes);
  const found = bestDeployment(
    input,
    { routing, shapes, norms: tables, aim },
    { seconds: DEPLOYMENT_SECONDS, budgetSeconds, refine: true },
  );
  if (found === null || found === "refused") return found;
  const { status, gap, solver } = found.deployment;
  const rows = rowsToDeploy(input, routing);
  const deployed = found.deployment.stages.map((stage, row) => {
    const capacity = own.tables[row]?.capacity;
    if (capacity === undefined) throw new Error(`no tables of ${stage.model}`);
    return deployedStage(stage, capacity, rows[row]?.requestsPerSecond ?? 0);
  });
  return {
    routing,
    deployment: deployed.slice(0, stages),
    kept: deployed.slice(stages),
    tables,
    tableSeconds: found.seconds,
    proof: { status, gap, engine: `${solver.engine}, ${counted(solver.milps, "MILP")} over replicas on nodes` },
    loss: found.loss,
    says: saysOf(input, found),
  };
}

/** Tables of every model to deploy, with the running shapes in addition to the selected shapes. */
export function exactTables(input: Constrained, routing: number): RoutingTables {
  const { explorer, running } = input;
  const tables = rowsToDeploy(input, routing).map(({ model, exact }) => {
    const runs = running.filter((replica) => replica.model === model);
    return exact(({ shape }) => runs.some((replica) => replica.shape.tp === shape.tp && replica.shape.pp === shape.pp));
  });
  return { explorer, routing, tables };
}

function deployedStage({ model, seconds, replicas }: StageReplicas, capacity: CapacityTable, requestsPerSecond: number): DeployedStage {
  const groups = [...new Set(replicas.map(({ option }) => option))].map((option) => ({
    option,
    share: replicas.find((replica) => replica.option === option)?.share ?? 0,
    placements: replicas.filter((replica) => replica.option === option).map((replica) => replica.placements),
  }));
  const counts = groups.map(
    ({ option, share, placements }): ShapeCount => ({
      gpu: option.gpu,
      shape: option.shape,
      count: placements.length,
      requestsPerSecond: share * requestsPerSecond,
    }),
  );
  const main = mainGpu(counts);
  return {
    model,
    replicas: counts,
    tableSeconds: seconds,
    gpus: gpusOf(counts),
    ...loadOf(capacity, counts, requestsPerSecond),
    groups: groups.map(({ option, share, placements }) => ({
      ...(option.gpu === main ? {} : { gpu: option.gpu }),
      ...option.shape,
      count: placements.length,
      shareEach: share,
      placements: placements.map((own) => own.map(({ node, gpus }) => ({ node, gpus: [...gpus] }))),
    })),
  };
}

function saysOf({ running, objective }: Constrained, { deployment }: TimedDeployment): string[] {
  const { status, gap, started, stopped } = deployment;
  const says: string[] = [];
  const percent = `${Math.ceil(100 * gap)} %`;
  if (status === "feasible")
    says.push(
      objective.kind === "cost-under-both"
        ? `The cost was lowered cap by cap, under each the fastest deployment that was found; what the load alone takes costs ${percent} less, and nothing is cheaper than that.`
        : `The deployment is the best found in time, at most ${percent} from the best there can be.`,
    );
  if (running.length > 0) says.push(`Against what runs, ${counted(started, "replica")} to start and ${stopped} to stop.`);
  return says;
}

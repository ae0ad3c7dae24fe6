import type { MixBeside } from "@/server/contracts/studio";
import { fixedProblem, mixGround } from "@/solver/mix/mixGround";
import { solveMix } from "@/solver/mix/solveMix";
import { gpuOfNode } from "@/solver/plan/clusterGpus";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { classFigures } from "./classFigures";
import { type MixedReplicas, mixPolicy, mixRoutes } from "./mixPolicy";
import type { MixSituation } from "./mixSituation";
import type { MixTask } from "./mixTask";
import { noMixText } from "./noMix";
import { simulateMix } from "./simulateMix";

interface Standing {
  readonly task: MixTask;
  readonly mixed: MixSituation;
  readonly running: readonly RunningReplica[];
  readonly loadFactor: number;
  readonly solving: Parameters<typeof solveMix>[1];
}

/**
 * The mix on engines that run already, with the cascade and the configurations that are best on them: candidates over their models, chosen by
 * the same MILP, simulated under the same programs. Engines of models that the mix is not planned with are left out.
 */
export function onStandingEngines({ task, mixed, running, loadFactor, solving }: Standing): MixBeside {
  const gpus = running.reduce((sum, { shape }) => sum + shape.tp * shape.pp, 0);
  const replicas = standingReplicas(mixed, running, task);
  const none = (message: string): MixBeside => ({ kind: "not-served", gpus, message });
  const own = overModels(mixed, [...new Set(replicas.map(({ model }) => model))]);
  if (typeof own === "string") return none(own);
  const ground = mixGround(own.traffic);
  const solved = solveMix(fixedProblem(ground, replicas, loadFactor), solving);
  if (solved.outcome === "none") return none(noMixText(solved, { gpus, cluster: "the cluster as it runs", loadFactor }));
  const routes = mixRoutes(task.mix, own, ground, solved);
  const policy = mixPolicy({ situation: task.situation, mixed: own, ground, replicas, routes, solved, selection: task.mix.selection });
  const { arrivalSeconds } = task.situation.workload;
  const simulated = simulateMix({ traffic: { ...own.traffic, outcomes: mixed.traffic.outcomes }, policy, replicas, arrivalSeconds });
  if (simulated === null) return none("No program of the mix was completely served on them in the simulation.");
  const { meanSeconds, latencyQuantiles, quality } = simulated.figures;
  return {
    ...{ kind: "served", gpus, factor: solved.factor, classes: classFigures(ground, solved, simulated) },
    ...{ meanSeconds, p95Seconds: latencyQuantiles[95] ?? 0, quality },
  };
}

/** The situation over some of its models; a sentence where an agent may run on none of them. */
function overModels({ traffic, costs, leftOut }: MixSituation, names: readonly string[]): MixSituation | string {
  const kept = Array.from(traffic.outcomes.models.keys()).filter((model) => names.includes(traffic.outcomes.models[model]?.model ?? ""));
  if (kept.length === 0) return "None of the models that the workload has answers of runs.";
  const absent = traffic.workflows
    .flatMap(({ workflow }) => workflow.agents.map((agent) => ({ agent, workflow })))
    .find(({ agent }) => agent.models?.some((model) => names.includes(model)) === false);
  if (absent !== undefined)
    return `${absent.agent.name} of ${absent.workflow.name} may run on ${absent.agent.models?.join(", ")}, of which nothing runs.`;
  const picked = <Item>(all: readonly Item[]): Item[] => kept.flatMap((model) => all[model] ?? []);
  const workflows = traffic.workflows.map(({ workflow, ...own }) => ({
    ...own,
    workflow: {
      ...workflow,
      agents: workflow.agents.map((agent) =>
        agent.models === undefined ? agent : { ...agent, models: agent.models.filter((model) => names.includes(model)) },
      ),
    },
  }));
  return {
    traffic: {
      ...{ ...traffic, workflows, outcomes: { ...traffic.outcomes, models: picked(traffic.outcomes.models) } },
      shapes: kept.map((model) => traffic.shapes[model] ?? []),
    },
    costs: kept.map((model) => costs[model] ?? 1),
    leftOut,
  };
}

/** Running replicas by model and shape. */
function standingReplicas(
  { traffic }: MixSituation,
  running: readonly RunningReplica[],
  { situation: { cluster } }: MixTask,
): readonly MixedReplicas[] {
  const gpuOf = ({ placements }: RunningReplica): string | undefined => {
    const node = cluster.nodes.find(({ name }) => name === placements[0]?.node);
    return node === undefined ? undefined : gpuOfNode(cluster, node);
  };
  return traffic.outcomes.models.flatMap(({ model }, at) =>
    (traffic.shapes[at] ?? []).flatMap((own) => {
      const { tp, pp } = own.shape;
      const count = running.filter(
        (one) => one.model === model && one.shape.tp === tp && one.shape.pp === pp && gpuOf(one) === own.gpu,
      ).length;
      return count === 0 ? [] : [{ ...own, model, count }];
    }),
  );
}

import { judgeOf } from "@/solver/cascade/explore/situation";
import { modelsOf, shapesOf } from "@/solver/cascade/explore/situationExplorer";
import { activeParams } from "@/solver/hardware/architecture";
import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import type { MixTraffic } from "@/solver/mix/mixGround";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { counted } from "@/solver/wording/wording";
import { spaceRefusal } from "@/solver/workflow/configurationSpace";
import { splitPrompts } from "@/solver/workload/split";
import type { MixTask } from "./mixTask";

/** What engines of a mix are planned from. */
export interface MixSituation {
  readonly traffic: MixTraffic;
  /** By model of the traffic, billions of active parameters. */
  readonly costs: readonly number[];
  /** Models of the workload that fit no node, which are not planned with. */
  readonly leftOut: readonly string[];
}

/**
 * The traffic of a mix over the models that fit the cluster, smallest first.
 *
 * @returns a sentence with the reason where the mix or the situation cannot be planned.
 */
export function mixSituation({ situation, mix }: MixTask): MixSituation | string {
  const { workload, cluster, constraints, gates, directStart, topology, running = [] } = situation;
  const { seed, outcomes } = workload;
  if (topology === "given") return "Others operate these engines: a plan for a mix decides which engines run.";
  if (cluster.nodes.some(({ engineOf, processor }) => engineOf !== undefined || processor !== undefined))
    return "Engines for a mix are planned on nodes of GPUs alone: this cluster has nodes that share engines or processors.";
  if (judgeOf(situation).engine !== undefined)
    return "A mix is planned with a judge outside of the plan, not with one that is an engine of it.";
  if (gates !== undefined || directStart !== undefined)
    return "Cascades of a mix have the judge as their gate and start at the first stage: leave out other gates and direct starts.";
  if (mix.singles === null && mix.workflows.length === 0) return "The mix has neither single requests nor workflows.";
  const names = mix.workflows.map(({ workflow }) => workflow.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `The workflow ${twice} is in the mix twice.`;
  const cards = catalogueOf(situation.userCards ?? noUserCards);
  const costed = modelsOf(situation)
    .map((model) => ({ model, card: cardOf(cards.models, model) }))
    .map(({ model, card }) => ({ model, cost: card === undefined ? 0 : activeParams(card.architecture) / 1e9 }))
    .sort((one, other) => one.cost - other.cost);
  const shaped = shapesOf(
    situation,
    costed.map(({ model }) => model),
  );
  const all = costed.map((own, at) => ({
    ...own,
    shapes: plainShapes(
      shaped[at] ?? [],
      running.filter(({ model }) => model === own.model),
    ),
    outcome: outcomes.models.find(({ model }) => model === own.model),
  }));
  const fitting = all.flatMap(({ outcome, ...own }) => (own.shapes.length === 0 || outcome === undefined ? [] : [{ ...own, outcome }]));
  const leftOut = all.flatMap(({ model, shapes }) => (shapes.length === 0 ? [model] : []));
  const [least] = fitting;
  if (least === undefined) return `No model of ${workload.name} fits ${cluster.name}: ${counted(leftOut.length, "model")} tried.`;
  const models = fitting.map(({ model }) => model);
  for (const { workflow } of mix.workflows) {
    const pinned = workflow.agents.find(({ models: own }) => own?.every((model) => !models.includes(model)) === true);
    if (pinned !== undefined)
      return `${pinned.name} of ${workflow.name} may run on ${pinned.models?.join(", ")}, which ${leftOut.some((model) => pinned.models?.includes(model)) ? `fits no node of ${cluster.name}` : `is not among ${models.join(", ")}`}.`;
  }
  const workflows = mix.workflows.map(({ workflow, programsPerSecond, qualityFloor, predictor }) => ({
    ...{ programsPerSecond, floor: qualityFloor, predicted: predictor !== undefined },
    // Agents may name models that do not fit: the others remain.
    workflow: {
      ...workflow,
      agents: workflow.agents.map((agent) =>
        agent.models === undefined ? agent : { ...agent, models: agent.models.filter((model) => models.includes(model)) },
      ),
    },
  }));
  const refusal = workflows.map(({ workflow }) => spaceRefusal(workflow, models)).find((own) => own !== null);
  if (refusal !== undefined) return refusal;
  if (constraints !== undefined) {
    const unused = constraints.pinned.find(({ model }) => !models.includes(model));
    if (unused !== undefined) return `A constraint pins replicas of ${unused.model}, which is not among ${models.join(", ")}.`;
  }
  return {
    traffic: {
      ...{ seed, workflows, planning: splitPrompts(outcomes.promptIds.length, seed).planning },
      outcomes: { ...outcomes, models: fitting.map(({ outcome }) => outcome) },
      singles:
        mix.singles === null
          ? null
          : {
              ...{ requestsPerSecond: mix.singles.requestsPerSecond, floor: mix.singles.qualityFloor },
              judgeSeconds: judgeOf(situation).secondsPerCall,
            },
      shapes: fitting.map(({ shapes }) => shapes),
    },
    costs: fitting.map(({ cost }) => cost),
    leftOut,
  };
}

/** Shapes without a pipeline, or where none fits those of the shortest one, and those that run. */
function plainShapes(shapes: readonly ShapedReplica[], running: readonly RunningReplica[]): readonly ShapedReplica[] {
  const shortest = Math.min(...shapes.map(({ shape }) => shape.pp));
  return shapes.filter(({ shape: { tp, pp } }) => pp === shortest || running.some(({ shape }) => shape.tp === tp && shape.pp === pp));
}

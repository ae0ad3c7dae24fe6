import { isConstrained } from "@/solver/cascade/deploy/constrainedDeployment";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { hostedModelOf, isBarred, modelsOf } from "@/solver/cascade/explore/situationExplorer";
import { noConstraints } from "@/solver/plan/constraints";
import type { PlanningTask } from "./planningRequest";

type PlannedTask = Exclude<PlanningTask, { kind: "serve" }>;

/** Why hosted models cannot have the part in a plan that is asked for, in one sentence; null if they can, or none is used. */
export function hostedRefusal(situation: PlanningSituation, task: PlannedTask): string | null {
  const { cluster, models = [], constraints = noConstraints, running = [], topology, workload } = situation;
  const routing = task.kind === "solve" || task.kind === "examine" ? task.fixed : null;
  const named = [...models, ...(routing?.models ?? [])].find((model) => isBarred(situation, model));
  if (named !== undefined)
    return `${named} is hosted, and the data of the workload ${workload.name} does not leave the house: allow it with --data-may-leave.`;
  const hosted = modelsOf(situation).flatMap((model) => hostedModelOf(situation, model) ?? []);
  if (hosted.length === 0) return null;
  const unknown = hosted.find(({ ttftSeconds, secondsPerOutputToken }) => ttftSeconds === undefined || secondsPerOutputToken === undefined);
  if (unknown !== undefined)
    return `The hosted model ${unknown.model} has no latency to plan with: give its ttftSeconds and secondsPerOutputToken.`;
  if (topology === "given" || isConstrained({ cluster, constraints, running }))
    return "Hosted models are planned on GPUs of one type that the plan may place freely: leave out constraints on replicas, or the hosted models.";
  if (task.kind === "dispatch" || task.kind === "examine" || (task.kind === "solve" && !isCascade(task.policy)))
    return "Hosted models are stages of cascades by thresholds: other policies and examinations do not know them.";
  return null;
}

const isCascade = (policy: Extract<PlannedTask, { kind: "solve" }>["policy"]): boolean => policy === undefined || policy === "cascade";

import type { SolveAnswer } from "@/server/contracts/studio";
import { constraintsOf, type PlanConstraints } from "@/solver/deployment/constraints";
import type { PlanningSituation } from "./planningRequest";
import { modelsOf, shapesOf } from "./situationExplorer";

type Refused = Pick<Extract<SolveAnswer, { outcome: "infeasible" }>, "reason" | "conflict">;

/**
 * What is wrong with a situation's constraints before anything is planned, in one sentence, and which of them would have to give way where
 * they contradict one another or the cluster; null where nothing is.
 */
export function constraintRefusal(situation: PlanningSituation): Refused | null {
  const { constraints, cluster, workload } = situation;
  if (constraints === undefined) return null;
  const { pinned, shapes, excluded, nodes } = constraints;
  const known = workload.outcomes.models.map(({ model }) => model);
  const stranger = [...[...pinned, ...shapes, ...nodes].map(({ model }) => model), ...excluded].find((model) => !known.includes(model));
  if (stranger !== undefined)
    return { reason: `A constraint names ${stranger}, which is not in the workload: it has ${known.join(", ")}.` };
  const names = cluster.nodes.map(({ name }) => name);
  const nowhere = nodes.flatMap(({ only = [], never }) => [...only, ...never]).find((node) => !names.includes(node));
  if (nowhere !== undefined)
    return { reason: `A constraint names node ${nowhere}, which the cluster does not have: it has ${names.join(", ")}.` };
  const left = modelsOf(situation);
  if (left.length === 0) return { reason: "The constraints exclude every model.", conflict: members(constraints, ["excluded"]) };
  const both = pinned.find(({ model }) => !left.includes(model));
  if (both !== undefined)
    return {
      reason: `${both.model} is pinned but is not among the models to plan with: take one of the two back.`,
      conflict: members(constraints, ["pinned", "excluded"], both.model),
    };
  const unfit = shapes.find(({ model }) => left.includes(model) && shapesOf(situation, [model])[0]?.length === 0);
  if (unfit === undefined) return null;
  return {
    reason: `${unfit.model} cannot run as tp ${unfit.tp} x pp ${unfit.pp} on this cluster.`,
    conflict: members(constraints, ["shapes"], unfit.model),
  };
}

function members(
  constraints: PlanConstraints,
  kinds: readonly (keyof PlanConstraints)[],
  about?: string,
): NonNullable<Refused["conflict"]> {
  return constraintsOf(constraints)
    .filter(({ kind, model }) => kinds.includes(kind) && (about === undefined || model === about))
    .map(({ kind, model, says }) => ({ kind, model, says, nearest: null, needs: "has to give way" }));
}

import type { SolveRequest } from "@/server/contracts/planRequest";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { modelsOf, shapesOf, standing } from "@/solver/cascade/explore/situationExplorer";
import { constraintsOf, type PlanConstraints } from "@/solver/plan/constraints";

type Refused = Extract<SolveAnswer, { outcome: "infeasible" }>;

/**
 * The problem with a situation's constraints before planning, in one sentence, and which of them conflict with one another or with the
 * cluster; null if there is none.
 */
export function constraintRefusal(situation: PlanningSituation, fixed: SolveRequest["fixed"]): Refused | null {
  const { constraints, cluster, workload } = situation;
  if (constraints === undefined) return null;
  const { pinned, shapes, excluded, nodes } = constraints;
  const known = workload.outcomes.models.map(({ model }) => model);
  const stranger = [...[...pinned, ...shapes, ...nodes].map(({ model }) => model), ...excluded].find((model) => !known.includes(model));
  if (stranger !== undefined) return refused(`A constraint names ${stranger}, which is not in the workload: it has ${known.join(", ")}.`);
  const names = cluster.nodes.map(({ name }) => name);
  const nowhere = nodes.flatMap(({ only = [], never }) => [...only, ...never]).find((node) => !names.includes(node));
  if (nowhere !== undefined)
    return refused(`A constraint names node ${nowhere}, which the cluster does not have: it has ${names.join(", ")}.`);
  const left = modelsOf(situation);
  if (left.length === 0) return refused("The constraints exclude every model.", members(constraints, ["excluded"]));
  const barred = fixed?.models.find((model) => excluded.includes(model));
  if (barred !== undefined)
    return refused(
      `${barred} is a stage of the cascade that is asked for, and is excluded: take one of the two back.`,
      members(constraints, ["excluded"], barred),
    );
  const both = pinned.find(({ model }) => !left.includes(model));
  if (both !== undefined)
    return refused(
      `${both.model} is pinned but is not among the models to plan with: take one of the two back.`,
      members(constraints, ["pinned", "excluded"], both.model),
    );
  const unfit = shapes.find(({ model }) => left.includes(model) && shapesOf(situation, [model])[0]?.length === 0);
  if (unfit !== undefined)
    return refused(
      `${unfit.model} cannot run as tp ${unfit.tp} x pp ${unfit.pp} on this cluster.`,
      members(constraints, ["shapes"], unfit.model),
    );
  const stands = standing(situation);
  const needed = fixed?.models ?? left;
  const without = needed.filter((model) => stands?.every((replica) => replica.model !== model));
  if (fixed === null ? without.length < needed.length : without.length === 0) return null;
  const rules = members(constraints, ["shapes", "nodes"]).filter(({ model }) => model !== null && without.includes(model));
  return rules.length === 0
    ? null
    : refused(`The constraints leave no engine of ${without.join(", ")} among those that are attached.`, rules);
}

/** Constraints that name something that does not exist are malformed; those that contradict one another or the hardware conflict. */
function refused(reason: string, conflict?: NonNullable<Refused["conflict"]>): Refused {
  const none = { reason, bestQuality: null, bestLatencySeconds: null };
  return conflict === undefined
    ? { outcome: "infeasible", kind: "malformed", ...none }
    : { outcome: "infeasible", kind: "constraints", ...none, conflict };
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

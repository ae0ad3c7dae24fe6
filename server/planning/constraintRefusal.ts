import type { PlanningSituation } from "./planningRequest";
import { modelsOf, shapesOf } from "./situationExplorer";

/** What is wrong with a situation's constraints before anything is planned, in one sentence; null where nothing is. */
export function constraintRefusal(situation: PlanningSituation): string | null {
  const { constraints, cluster, workload } = situation;
  if (constraints === undefined) return null;
  const { pinned, shapes, excluded, nodes } = constraints;
  const known = workload.outcomes.models.map(({ model }) => model);
  const stranger = [...[...pinned, ...shapes, ...nodes].map(({ model }) => model), ...excluded].find((model) => !known.includes(model));
  if (stranger !== undefined) return `A constraint names ${stranger}, which is not in the workload: it has ${known.join(", ")}.`;
  const names = cluster.nodes.map(({ name }) => name);
  const nowhere = nodes.flatMap(({ only = [], never }) => [...only, ...never]).find((node) => !names.includes(node));
  if (nowhere !== undefined) return `A constraint names node ${nowhere}, which the cluster does not have: it has ${names.join(", ")}.`;
  const left = modelsOf(situation);
  if (left.length === 0) return "The constraints exclude every model.";
  const both = pinned.find(({ model }) => !left.includes(model));
  if (both !== undefined) return `${both.model} is pinned but is not among the models to plan with: take one of the two back.`;
  const unfit = shapes.find(({ model }) => left.includes(model) && shapesOf(situation, [model])[0]?.length === 0);
  if (unfit !== undefined) return `${unfit.model} cannot run as tp ${unfit.tp} x pp ${unfit.pp} on this cluster.`;
  return null;
}

import type { Outcome } from "@/server/contracts/studio";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { RequestTokens } from "@/solver/engine/throughputCurve";
import { activeParams } from "@/solver/hardware/architecture";
import { type CardCatalogue, cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { atPrecision } from "@/solver/hardware/modelCard";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import type { ModelDeployment, UnsealedPlan } from "@/solver/plan/plan";
import { type JustInTimePolicy, judgeEngineOf, modelsOf } from "@/solver/plan/policySchema";
import { type JustInTimeModel, justInTimeDocument } from "@/solver/policies/justInTimeDocument";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { spaceRefusal } from "@/solver/workflow/configurationSpace";
import type { Workload } from "@/solver/workload/workload";

/** What of a plan says which engines there are, and how they were modelled. */
export type EnginesOfPlan = Pick<UnsealedPlan, "deployment" | "policy" | "inputs">;

/** Shapes of one model's engines with how many there are of each. */
type Shapes = readonly { readonly replica: ReplicaModel; readonly count: number }[];

/** A model of a plan as a just-in-time policy is made for it, with the shapes of its engines. */
export type PlannedModel = Omit<JustInTimeModel, "replica"> & { readonly replica: Shapes };

/**
 * Models of a plan's engines with what a just-in-time policy says of them: active parameters as cost, engines as the plan modelled them, lengths of
 * the workload on average. A model that only judges is none of them.
 *
 * @returns in a sentence why there is none to choose among.
 */
export function plannedModels(plan: EnginesOfPlan, { outcomes, name }: Workload): Outcome<{ readonly models: readonly PlannedModel[] }> {
  const judge = judgeEngineOf(plan.policy);
  const serving = plan.deployment.filter(({ model }) => model !== judge || modelsOf(plan.policy).includes(model));
  const [only] = serving;
  if (serving.length < 2 && only !== undefined)
    return {
      ok: false,
      message: `The plan has engines of ${only.model} only: there is nothing to choose. Take a plan that deploys several models.`,
    };
  const cards = catalogueOf(plan.inputs.userCards ?? noUserCards);
  const models: PlannedModel[] = [];
  for (const deployment of serving) {
    const { model } = deployment;
    const answers = outcomes.models.find((own) => own.model === model);
    const card = cardOf(cards.models, model);
    if (answers === undefined)
      return { ok: false, message: `The workload ${name} has no answers of ${model}, whose lengths its curve is made for.` };
    if (card === undefined) return { ok: false, message: `There is no card of ${model}.` };
    const shapes = shapesOf(deployment, plan, cards);
    if (!shapes.ok) return shapes;
    const tokens: RequestTokens = { inputTokens: mean(outcomes.inputTokens), outputTokens: mean(answers.outputTokens) };
    models.push({ model, cost: activeParams(card.architecture) / 1e9, replica: shapes.shapes, tokens });
  }
  return { ok: true, models: models.sort((a, b) => a.cost - b.cost) };
}

function shapesOf(
  { model, precision, gpu, replicas }: ModelDeployment,
  { inputs }: EnginesOfPlan,
  { models, gpus }: CardCatalogue,
): Outcome<{ readonly shapes: Shapes }> {
  const card = cardOf(models, model);
  const shapes: Shapes[number][] = [];
  for (const { tp, pp, count, gpu: own = gpu } of replicas) {
    const type = cardOf(gpus, own);
    if (card === undefined || type === undefined) return { ok: false, message: `There is no card of ${card === undefined ? model : own}.` };
    const fit = replicaModel(atPrecision(card, precision), type, { tp, pp }, inputs.engineProfile);
    if (!fit.fits) return { ok: false, message: `${model} with tp ${tp} and pp ${pp} does not fit ${own} by its card: ${fit.reason}` };
    shapes.push({ replica: fit.replica, count });
  }
  return { ok: true, shapes };
}

/** What is asked of a just-in-time policy beside its engines. */
export type JustInTimeAsked = Pick<JustInTimePolicy, "workflows" | "selection"> & Partial<Pick<JustInTimePolicy, "order" | "place">>;

/**
 * The just-in-time policy of a plan's engines for declared workflows, and what an operator should know of it, a sentence each.
 *
 * @returns in a sentence with the way out why there is none.
 */
export function justInTimeRouting(
  plan: EnginesOfPlan,
  workload: Workload,
  asked: JustInTimeAsked,
): Outcome<{ readonly policy: JustInTimePolicy; readonly notes: readonly string[] }> {
  const planned = plannedModels(plan, workload);
  if (!planned.ok) return planned;
  const names = planned.models.map(({ model }) => model);
  for (const { workflow } of asked.workflows) {
    const refusal = spaceRefusal(workflow, names);
    if (refusal !== null) return { ok: false, message: refusal };
  }
  let policy: JustInTimePolicy;
  try {
    policy = justInTimeDocument({ models: planned.models, ...asked });
  } catch (problem) {
    if (problem instanceof RangeError) return { ok: false, message: `${problem.message}: its engines cannot serve this workload.` };
    throw problem;
  }
  const refusal = policyRefusal(policy);
  if (refusal !== null) return { ok: false, message: refusal };
  const mixed = planned.models.filter(({ replica }) => replica.length > 1).map(({ model }) => model);
  const unpredicted = asked.workflows.filter(({ predictor }) => predictor === undefined).map(({ workflow }) => workflow.name);
  return {
    ok: true,
    policy,
    notes: [
      `Saturation and throughput of each model are modelled for requests as long as those of ${workload.name} on average.`,
      ...(mixed.length === 0 ? [] : [`Engines of ${mixed.join(", ")} have several shapes: each counts as their mean.`]),
      ...(unpredicted.length === 0
        ? []
        : [
            `${unpredicted.join(", ")}: without a predictor only the largest models throughout count as accurate, so there is nothing to choose.`,
          ]),
    ],
  };
}

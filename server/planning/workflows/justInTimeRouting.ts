import type { Outcome, ScoredModel } from "@/server/contracts/studio";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ServedRequests } from "@/solver/engine/throughputCurve";
import { gateText } from "@/solver/gates/gates";
import { activeParams } from "@/solver/hardware/architecture";
import { type CardCatalogue, cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { limitsOfModel, withLimits } from "@/solver/hardware/engineLimits";
import { atPrecision } from "@/solver/hardware/modelCard";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { requestsOn } from "@/solver/lab/engineFigures";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import type { ModelDeployment, UnsealedPlan } from "@/solver/plan/plan";
import {
  type JustInTimePolicy,
  judgeEngineOf,
  modelsOf,
  type PolicyDocument,
  type RoundChoice,
  singlesPolicyOf,
  withLearntRead,
  withSinglesPolicy,
} from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { type JustInTimeModel, justInTimeDocument } from "@/solver/policies/justInTime/justInTimeDocument";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { withCallGates } from "@/solver/stageGates/gateCandidates";
import { spaceRefusal } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";

/** The engines of a plan, and how they were modelled. */
export type EnginesOfPlan = Pick<UnsealedPlan, "deployment" | "policy" | "inputs"> & {
  readonly predictions: Pick<UnsealedPlan["predictions"], "stages">;
};

/** Shapes of one model's engines with the number of each. */
type Shapes = readonly { readonly replica: ReplicaModel; readonly count: number }[];

/** A model of a plan in the form for a just-in-time policy, with the shapes of its engines. */
export type PlannedModel = Omit<JustInTimeModel, "replica"> & { readonly replica: Shapes };

/**
 * Programs whose requests represent those of workflows, and the correlation of their stages: no publication states it, so the middle of the
 * range.
 */
const PROGRAMS = 1000;
const CORRELATION = 0.5;

/**
 * Models of a plan's engines with their data in a just-in-time policy: active parameters as cost, engines as the plan modelled them,
 * requests as long as those of programs of the workflows made from the workload, including what agents read of others; without workflows,
 * as the workload's own. A model that only judges is excluded.
 *
 * @returns a sentence with the reason if there is none to choose from.
 */
export function plannedModels(
  plan: EnginesOfPlan,
  workload: Workload,
  workflows: readonly WorkflowDocument[],
): Outcome<{ readonly models: readonly PlannedModel[] }> {
  const { outcomes, name } = workload;
  const judge = judgeEngineOf(plan.policy);
  const serving = plan.deployment.filter(({ model }) => model !== judge || modelsOf(plan.policy).includes(model));
  const [only] = serving;
  if (serving.length < 2 && only !== undefined)
    return {
      ok: false,
      message: `The plan has engines of ${only.model} only: there is nothing to choose. Take a plan that deploys several models.`,
    };
  const cards = catalogueOf(plan.inputs.userCards ?? noUserCards);
  const requestsOf = requestsBy(workload, workflows);
  const models: PlannedModel[] = [];
  for (const deployment of serving) {
    const { model } = deployment;
    const answers = outcomes.models.findIndex((own) => own.model === model);
    const card = cardOf(cards.models, model);
    if (answers < 0) return { ok: false, message: `The workload ${name} has no answers of ${model}, whose lengths its curve is made for.` };
    if (card === undefined) return { ok: false, message: `There is no card of ${model}.` };
    const shapes = shapesOf(deployment, plan, cards);
    if (!shapes.ok) return shapes;
    models.push({ model, cost: activeParams(card.architecture) / 1e9, replica: shapes.shapes, requests: requestsOf(answers) });
  }
  return { ok: true, models: models.sort((a, b) => a.cost - b.cost) };
}

/** Requests for profiling engines of a model of the workload, given by its index. */
function requestsBy({ outcomes, seed }: Workload, workflows: readonly WorkflowDocument[]): (model: number) => ServedRequests {
  if (workflows.length === 0)
    return (model) => ({ inputTokens: outcomes.inputTokens, outputTokens: outcomes.models[model]?.outputTokens ?? [], seed });
  const sample = planningPrograms({ outcomes, seed }, workflows);
  return (model) => ({ ...requestsOn(sample, model), seed });
}

/** Programs of workflows on the planning prompts of a workload, as many of each. */
const planningPrograms = ({ outcomes, seed }: Pick<Workload, "outcomes" | "seed">, workflows: readonly WorkflowDocument[]): ProgramSample =>
  drawPrograms({
    outcomes,
    prompts: splitPrompts(outcomes.promptIds.length, seed).planning,
    mix: workflows.map((workflow) => ({ workflow: workflowOfDocument(workflow), share: 1 })),
    correlation: CORRELATION,
    arrivalSeconds: new Float64Array(PROGRAMS),
    seed: mixSeed(seed, "profiled programs"),
  });

function shapesOf(
  { model, precision, gpu, replicas }: ModelDeployment,
  { inputs }: EnginesOfPlan,
  { models, gpus }: CardCatalogue,
): Outcome<{ readonly shapes: Shapes }> {
  const card = cardOf(models, model);
  const shapes: Shapes[number][] = [];
  const limits = limitsOfModel(inputs.cluster.engineLimits, model);
  for (const { tp, pp, count, gpu: own = gpu } of replicas) {
    const type = cardOf(gpus, own);
    if (card === undefined || type === undefined) return { ok: false, message: `There is no card of ${card === undefined ? model : own}.` };
    const fit = replicaModel(atPrecision(card, precision), type, { tp, pp }, inputs.engineProfile);
    if (!fit.fits) return { ok: false, message: `${model} with tp ${tp} and pp ${pp} does not fit ${own} by its card: ${fit.reason}` };
    shapes.push({ replica: withLimits(fit.replica, limits), count });
  }
  return { ok: true, shapes };
}

/** The request for a just-in-time policy apart from its engines. */
export type JustInTimeAsked = Pick<JustInTimePolicy, "workflows"> & {
  readonly selection: RoundChoice;
  /** Scores of agents' answers change which configurations count as accurate; left out: nothing scores them. */
  readonly answerScores?: AnswerScores | undefined;
} & Partial<Pick<JustInTimePolicy, "order" | "place">>;

/** What is known of engines that scores of answers are read of. */
export interface AnswerScores {
  /** Models whose engines are known to report no log probabilities. */
  readonly silent: readonly string[];
}

/** Scores the answers of agents whose workflow has a predictor; the rule is `withCallGates`. */
const withScores = <Policy extends Parameters<typeof withCallGates>[0]>(policy: Policy, workload: Workload, { silent }: AnswerScores) =>
  withCallGates(policy, {
    ...{ workload, silent, isPredicted: ({ predictor }) => predictor !== undefined },
    sample: planningPrograms(
      workload,
      policy.workflows.map(({ workflow }) => workflow),
    ),
  });

/**
 * Which models' answers a just-in-time policy of a plan's engines has scored, and by what in words, where that is asked for.
 *
 * @returns a sentence with the reason where it cannot be had.
 */
export function scoredAnswers(
  plan: EnginesOfPlan,
  workload: Workload,
  { workflows, ...known }: Pick<JustInTimeAsked, "workflows"> & AnswerScores,
): Outcome<{ readonly scored: readonly ScoredModel[] }> {
  const documents = workflows.map(({ workflow }) => workflow);
  const planned = plannedModels(plan, workload, documents);
  if (!planned.ok) return planned;
  const refusal = spacesRefusal(documents, planned.models);
  if (refusal !== null) return { ok: false, message: refusal };
  const made = withScores({ models: planned.models, workflows }, workload, known);
  return made.ok ? { ok: true, scored: scoredModels(made.policy) } : made;
}

/** Models whose answers are scored, and by what. */
const scoredModels = ({ callGates = [] }: Pick<JustInTimePolicy, "callGates">): readonly ScoredModel[] =>
  callGates.map(({ model, gate }) => ({ model, by: gateText(gate) }));

/** Why a workflow has no configurations over models; null: all have. */
function spacesRefusal(workflows: readonly WorkflowDocument[], models: readonly PlannedModel[]): string | null {
  const names = models.map(({ model }) => model);
  return workflows.map((workflow) => spaceRefusal(workflow, names)).find((refusal) => refusal !== null) ?? null;
}

/**
 * A just-in-time policy that serves requests of no declared workflow as a plan's own policy does. Where the plan balances over models whatever
 * they answer, all such requests go to the largest. A plan that is just-in-time keeps its own way.
 */
function withSinglesOf(planned: PolicyDocument, policy: JustInTimePolicy): JustInTimePolicy {
  const singles = singlesPolicyOf(planned);
  if (singles === null || singles.kind === "balanced") return policy;
  const { learnt } = singles;
  return withLearntRead({ ...(withSinglesPolicy(policy, singles) as JustInTimePolicy), ...(learnt && { learnt }) });
}

/** The loads that a plan predicts of its models' engines, by its own traffic: calls of workflows are load in addition. */
const loadsOf = ({ deployment, predictions }: EnginesOfPlan) =>
  deployment.map(({ model, replicas }) => ({
    model,
    replicas: replicas.reduce((sum, { count }) => sum + count, 0),
    load: predictions.stages.find((stage) => stage.model === model)?.utilisation ?? 0,
  }));

/**
 * The just-in-time policy of a plan's engines for declared workflows, and notes on it for an operator, a sentence each. Requests of no
 * declared workflow are served as the plan's own policy serves them.
 *
 * @returns a sentence with the reason and the remedy if there is none.
 */
export function justInTimeRouting(
  plan: EnginesOfPlan,
  workload: Workload,
  { answerScores, ...asked }: JustInTimeAsked,
): Outcome<{ readonly policy: JustInTimePolicy; readonly notes: readonly string[] }> {
  const workflows = asked.workflows.map(({ workflow }) => workflow);
  const planned = plannedModels(plan, workload, workflows);
  if (!planned.ok) return planned;
  const unfit = spacesRefusal(workflows, planned.models);
  if (unfit !== null) return { ok: false, message: unfit };
  let policy: JustInTimePolicy;
  try {
    policy = withSinglesOf(plan.policy, justInTimeDocument({ models: planned.models, planned: loadsOf(plan), ...asked }));
  } catch (problem) {
    if (problem instanceof RangeError) return { ok: false, message: `${problem.message}: its engines cannot serve this workload.` };
    throw problem;
  }
  if (answerScores !== undefined) {
    const scored = withScores(policy, workload, answerScores);
    if (!scored.ok) return scored;
    policy = scored.policy;
  }
  const refusal = policyRefusal(policy);
  if (refusal !== null) return { ok: false, message: refusal };
  return { ok: true, policy, notes: notesOn(planned.models, policy, { workload, inputs: plan.inputs }) };
}

/** Notes on a policy for an operator, most serious first, a sentence each. */
function notesOn(
  models: readonly PlannedModel[],
  policy: JustInTimePolicy,
  made: { readonly workload: Workload; readonly inputs: EnginesOfPlan["inputs"] },
): readonly string[] {
  const names = policy.workflows.map(({ workflow }) => workflow.name);
  const { name } = made.workload;
  const served =
    names.length === 0 ? `requests as long as those of ${name}` : `${names.join(", ")} on prompts and answers as long as those of ${name}`;
  const mixed = models.filter(({ replica }) => replica.length > 1).map(({ model }) => model);
  const unpredicted = policy.workflows.filter(({ predictor }) => predictor === undefined).map(({ workflow }) => workflow.name);
  return [
    singlesNote(models, policy, made),
    `Saturation and throughput of each model are modelled for ${served}.`,
    ...(mixed.length === 0 ? [] : [`Engines of ${mixed.join(", ")} have several shapes: each counts as their mean.`]),
    ...(unpredicted.length === 0
      ? []
      : [
          `${unpredicted.join(", ")}: without a predictor only the largest models throughout count as accurate, so there is nothing to choose.`,
        ]),
    ...scoresNote(policy),
    ...policy.workflows.flatMap(({ workflow }) => untoldNote(workflow)),
  ];
}

/** How the plan's traffic is served if it names no workflow. */
function singlesNote(
  models: readonly PlannedModel[],
  policy: JustInTimePolicy,
  made: { readonly workload: Workload; readonly inputs: EnginesOfPlan["inputs"] },
): string {
  const singles = singlesPolicyOf(policy);
  const largest = models.at(-1)?.model ?? "";
  if (singles === null || singles.kind === "fixed") return oneModelNote(models, policy, { ...made, model: singles?.model ?? largest });
  const way = singles.kind === "cascade" ? "cascade" : "slack dispatch";
  return `Requests of no declared workflow are served by the plan's ${way} over ${modelsOf(singles).join(", ")}, in one queue with the calls of workflows. It was planned for ${made.workload.name} alone: the calls are load in addition.`;
}

/** That one model serves it all, and whether its engines suffice. */
function oneModelNote(
  models: readonly PlannedModel[],
  policy: JustInTimePolicy,
  {
    workload: { name, outcomes },
    inputs,
    model,
  }: { readonly workload: Workload; readonly inputs: EnginesOfPlan["inputs"]; readonly model: string },
): string {
  const { replica = [] } = models.find((own) => own.model === model) ?? {};
  const { requestsPerSecond } = inputs.workload;
  const engines = replica.reduce((sum, { count }) => sum + count, 0);
  const written = engines * (policy.models.find((own) => own.model === model)?.throughput.at(-1)?.tokensPerSecond ?? 0);
  const asked = requestsPerSecond * mean(outcomes.models.find((own) => own.model === model)?.outputTokens ?? []);
  const [most, needed] = [written, asked].map((tokens) => Math.round(tokens).toLocaleString("en"));
  const all = `Requests of no declared workflow all go to ${model}: its engines write ${most} tokens/s at saturation, and ${name} at ${requestsPerSecond} requests/s asks for ${needed}`;
  return asked > written
    ? `Too much for ${model} unless requests name a workflow, so that a line would grow without end. ${all}.`
    : `${all}.`;
}

/** Which answers are scored, and what that costs and brings. */
function scoresNote(policy: JustInTimePolicy): readonly string[] {
  const scored = scoredModels(policy);
  if (scored.length === 0) return [];
  const text = scored.map(({ model, by }) => `${model} (${by})`).join(", ");
  return [
    `Answers of agents by ${text} are scored, and scores change which configurations count as accurate: a stream of these models' answers to calls is held back until it is whole. What scores say of programs is modelled.`,
  ];
}

/** Agents without instructions. */
function untoldNote({ name, agents }: WorkflowDocument): readonly string[] {
  const untold = agents.filter(({ instructions }) => instructions.trim() === "").map((agent) => agent.name);
  return untold.length === 0
    ? []
    : [
        `${name}: no instructions for ${untold.join(", ")}. Where the gateway runs the workflow itself, their prompts do not state their part.`,
      ];
}

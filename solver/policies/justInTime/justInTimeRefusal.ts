import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { configurationSpace, spaceRefusal } from "@/solver/workflow/configurationSpace";
import { MOST_TRIED } from "./exhaustiveRound";
import type { ProfiledModel } from "./modelEngines";
import { configurationNamed } from "./stagedWorkflow";

/** Maximum number of models for which every assignment of a round is tried: with four, 65,536 of them. */
const MOST_TRIED_MODELS = 4;

/** Why no just-in-time choice can be built from the document, in one sentence with the offending value; null when one can. */
export function justInTimeRefusal(document: JustInTimePolicy): string | null {
  const { models, workflows, selection } = document;
  if (models.length === 0) return "Just-in-time choice needs at least one model.";
  for (const model of models) {
    const refusal = profileRefusal(model);
    if (refusal !== null) return refusal;
  }
  const names = models.map(({ model }) => model);
  for (const [index, { workflow }] of workflows.entries()) {
    if (workflows.findIndex((other) => other.workflow.name === workflow.name) !== index)
      return `The workflow ${workflow.name} is listed twice.`;
    const refusal = spaceRefusal(workflow, names);
    if (refusal !== null) return refusal;
  }
  if (selection.kind === "exhaustive" && models.length > MOST_TRIED_MODELS) {
    return `Every assignment of ${MOST_TRIED} requests is tried for at most ${MOST_TRIED_MODELS} models, and these are ${models.length}: search by a beam.`;
  }
  const unmeasured = models.find(({ meanOutputTokens }) => meanOutputTokens === undefined);
  if (selection.kind === "worth" && unmeasured !== undefined)
    return `A choice by worth compares how long answers are, and ${unmeasured.model} has no \`meanOutputTokens\`.`;
  return priceRefusal(document) ?? fixedRefusal(document);
}

function priceRefusal({ models, selection }: JustInTimePolicy): string | null {
  if (selection.kind !== "worth" || selection.price === undefined) return null;
  const { models: priced, dampingSeconds } = selection.price;
  const names = models.map(({ model }) => model);
  for (const [at, { model, secondsPerToken, waiting }] of priced.entries()) {
    if (!names.includes(model)) return `A price is given for ${model}, which is not among ${names.join(", ")}.`;
    if (priced.findIndex((other) => other.model === model) !== at) return `The price of ${model} is given twice.`;
    if (!(secondsPerToken >= 0)) return `The price of ${model} is ${secondsPerToken} s a token; it must be 0 or more.`;
    if (!(waiting >= 0)) return `The number of requests planned to wait for ${model} is ${waiting}; it must be 0 or more.`;
  }
  return dampingSeconds > 0 ? null : `Prices are smoothed over ${dampingSeconds} s; it must be more than 0.`;
}

function profileRefusal({ model, cost, saturationBatch, throughput }: ProfiledModel): string | null {
  if (!(cost > 0)) return `The cost of ${model} is ${cost}; it must be more than 0.`;
  let before = 0;
  for (const { batch, tokensPerSecond } of throughput) {
    if (!(batch > before)) return `The throughput of ${model} is given at batch ${batch} after ${before}; batches must ascend.`;
    if (!(tokensPerSecond > 0))
      return `The throughput of ${model} at batch ${batch} is ${tokensPerSecond} tokens/s; it must be more than 0.`;
    before = batch;
  }
  if (before === saturationBatch) return null;
  return `The throughput of ${model} is given up to batch ${before}, and it saturates at ${saturationBatch}: the last must be that.`;
}

function fixedRefusal({ models, workflows, selection }: JustInTimePolicy): string | null {
  if (selection.kind !== "fixed") return null;
  const names = models.map(({ model }) => model);
  for (const { workflow } of workflows) {
    const { configurations } = selection;
    const configuration = Object.hasOwn(configurations, workflow.name) ? configurations[workflow.name] : undefined;
    if (configuration === undefined) return `The workflow ${workflow.name} has no fixed configuration.`;
    const missing = workflow.agents.find(({ name }) => !Object.hasOwn(configuration, name));
    if (missing !== undefined) return `The fixed configuration of ${workflow.name} has no model for ${missing.name}.`;
    const stranger = Object.entries(configuration).find(([, model]) => !names.includes(model));
    if (stranger !== undefined) {
      return `The fixed configuration of ${workflow.name} has ${stranger[0]} on ${stranger[1]}, which is not among ${names.join(", ")}.`;
    }
    if (configurationNamed(configurationSpace(workflow, names), configuration) === null) {
      return `The fixed configuration of ${workflow.name} is not allowed: an agent may not run on its model, or must have the same as another.`;
    }
  }
  return null;
}

import { isCalibrated } from "@/solver/gates/gateDocument";
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
  return priceRefusal(document) ?? fixedRefusal(document) ?? gatesRefusal(document);
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

/** Why scores of answers cannot change what counts as accurate; null where they can, or there are none. */
function gatesRefusal({ models, workflows, selection, callGates: gates }: JustInTimePolicy): string | null {
  if (gates === undefined)
    return workflows.some(({ answers }) => answers !== undefined) ? "Answers are named whose scores no gate gives." : null;
  if (selection.kind === "fixed")
    return "One configuration for all programs does not change with scores: name no gates, or choose just in time.";
  const names = models.map(({ model }) => model);
  for (const [index, { model, gate }] of gates.entries()) {
    if (gates.findIndex((other) => other.model === model) !== index) return `The gate of ${model} is listed twice.`;
    if (!names.includes(model)) return `A gate scores the answers of ${model}, which is not among ${names.join(", ")}.`;
    if (model === names.at(-1))
      return `A program is compared with ${model} throughout, so that the score of its answer says nothing: name no gate for it.`;
    if (gate.kind !== "confidence" && gate.kind !== "scorer")
      return `The gate of ${model} is a ${gate.kind}, which asks for more than the answer: agents' answers are scored by confidence or a scorer.`;
    if (!isCalibrated(gate)) return `The gate of ${model} has no calibration, so that its score is no chance that an answer is right.`;
    if (workflows.every(({ answers = [] }) => answers.every((own) => own.model !== model)))
      return `The gate of ${model} scores answers that say nothing: no workflow lists answers by it.`;
  }
  return workflows.map((declared) => answersRefusal(declared, gates)).find((refusal) => refusal !== null) ?? null;
}

function answersRefusal(
  { workflow: { name, agents }, answers = [] }: JustInTimePolicy["workflows"][number],
  gates: NonNullable<JustInTimePolicy["callGates"]>,
): string | null {
  for (const [index, { agent, model, rightIfAccurate, rightIfNot }] of answers.entries()) {
    if (!agents.some((own) => own.name === agent)) return `Answers of ${agent} are listed, which is no agent of ${name}.`;
    if (!gates.some((gate) => gate.model === model))
      return `Answers of ${agent} by ${model} are listed in ${name}, and no gate scores them.`;
    if (answers.findIndex((other) => other.agent === agent && other.model === model) !== index)
      return `Answers of ${agent} by ${model} are listed twice in ${name}.`;
    if (rightIfNot > rightIfAccurate)
      return `Answers of ${agent} by ${model} in ${name} are right more often where the program is not accurate (${rightIfNot}) than where it is (${rightIfAccurate}): leave them out.`;
  }
  return null;
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

import { expect, test } from "vitest";
import { configurationSpace, modelIn } from "../workflow/configurationSpace";
import { drawPrograms } from "../workflow/drawPrograms";
import { workflows } from "../workflow/templates";
import type { Workflow } from "../workflow/workflow";
import { documentOfWorkflow } from "../workflow/workflowDocuments";
import { generatedWorkload } from "../workload/generated";
import { perWorkflowConfiguration, qualitiesOf } from "./perWorkflow";

const { outcomes } = generatedWorkload({ prompts: 200, seed: 5 });
const models = outcomes.models.map(({ model }) => model);
const costs = models.map((_, at) => 3 ** at);
const mix = ["text-to-sql", "self-refine"].flatMap((name) => workflows.filter((workflow) => workflow.name === name));
const sample = drawPrograms({
  ...{ outcomes, prompts: Int32Array.from(outcomes.promptIds.keys()), mix: mix.map((workflow) => ({ workflow, share: 1 })) },
  ...{ correlation: 0.5, misleads: 0.5, arrivalSeconds: new Float64Array(400), seed: 2 },
});
const costIn = (space: ReturnType<typeof configurationSpace>, configuration: number): number =>
  space.agents.reduce((sum, _, agent) => sum + (costs[modelIn(space, configuration, agent)] ?? 0), 0);

test("per-workflow's configuration is as good as the largest in the mean, and none that is costs less", () => {
  for (const workflow of mix) {
    const space = configurationSpace(documentOfWorkflow(workflow), models);
    const chosen = perWorkflowConfiguration(sample, workflow.name, space, { costs, mostLoss: 0 });
    const qualities = qualitiesOf(sample, workflow.name, space);
    const needed = qualities[space.size - 1] ?? Number.NaN;
    expect(qualities[chosen]).toBeGreaterThanOrEqual(needed);
    for (let other = 0; other < space.size; other += 1) {
      if ((qualities[other] ?? Number.NaN) >= needed) expect(costIn(space, other)).toBeGreaterThanOrEqual(costIn(space, chosen));
    }
  }
});

test("where nothing is known of quality, or no program ran the workflow, it is the largest models throughout", () => {
  const [workflow] = mix;
  if (workflow === undefined) throw new Error("There is no workflow");
  const space = configurationSpace(documentOfWorkflow(workflow), models);
  const unknown = { ...sample, label: sample.label.map((labels) => labels.map(() => Number.NaN)) };
  expect(perWorkflowConfiguration(unknown, workflow.name, space, { costs, mostLoss: 0 })).toBe(space.size - 1);
  expect(perWorkflowConfiguration(sample, "voting", space, { costs, mostLoss: 0 })).toBe(space.size - 1);
});

/** A thousand programs of one agent, which the large model always gets right and the small one with all but so many of 100 prompts. */
function shortBy(points: number) {
  const promptIds = Array.from({ length: 100 }, (_, at) => `p${at}`);
  const tokens = Int32Array.from(promptIds, () => 10);
  const own = ["small", "large"].map((model, size) => {
    const label = Float64Array.from(promptIds, (_, at) => (size === 0 && at < points ? 0 : 100));
    return { model, tableName: model, outputTokens: tokens, label, judged: label };
  });
  const alone: Workflow = {
    ...{ name: "alone", title: "A test's", source: "none" },
    stages: [{ role: "solver", part: "solves", reads: [], instructionTokens: 0, lengthRatio: 1, lengthSpread: 0 }],
  };
  const drawn = drawPrograms({
    outcomes: { promptIds, categories: promptIds, inputTokens: tokens, models: own },
    ...{ prompts: Int32Array.from(promptIds.keys()), mix: [{ workflow: alone, share: 1 }] },
    ...{ correlation: 1, arrivalSeconds: new Float64Array(1000), seed: 1 },
  });
  return { drawn, space: configurationSpace(documentOfWorkflow(alone), ["small", "large"]) };
}

test("a configuration that is a point below the largest is taken by who may lose two, and not by who may lose none", () => {
  const chosen = (points: number, mostLoss: number): number => {
    const { drawn, space } = shortBy(points);
    return perWorkflowConfiguration(drawn, "alone", space, { costs: [1, 9], mostLoss });
  };
  expect([chosen(0, 0), chosen(1, 0), chosen(1, 2), chosen(5, 2)]).toEqual([0, 1, 0, 1]);
});

import { expect, test } from "vitest";
import { configurationSpace, modelIn } from "../workflow/configurationSpace";
import { drawPrograms } from "../workflow/drawPrograms";
import { workflows } from "../workflow/templates";
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
    const chosen = perWorkflowConfiguration(sample, workflow.name, space, costs);
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
  expect(perWorkflowConfiguration(unknown, workflow.name, space, costs)).toBe(space.size - 1);
  expect(perWorkflowConfiguration(sample, "voting", space, costs)).toBe(space.size - 1);
});

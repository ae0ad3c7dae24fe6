import { expect, test } from "vitest";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { modelIn } from "@/solver/workflow/configurationSpace";
import { declared, justInTime } from "../testing/testJustInTime";
import { cheapestConfiguration, quickestConfiguration } from "./boundConfiguration";
import { ProgramConfigurations } from "./programConfigurations";
import { StagedWorkflow } from "./stagedWorkflow";

/** Two parallel drafts, and an agent that reads both. */
const fan = declared("fan", [{ name: "one" }, { name: "other" }, { name: "both", reads: ["one", "other"] }]);

const SMALL = 0;
const MEDIUM = 1;
const LARGE = 2;

/** A program of the fan for which these configurations and that of the largest models are accurate; by the models of its agents. */
function programOf(...accurate: readonly (readonly number[])[]): ProgramConfigurations {
  const policy = justInTime({ kind: "cheapest" }, { workflows: [{ workflow: fan }] });
  const program = new ProgramConfigurations("p", new StagedWorkflow(policy, 0));
  const { space } = program.workflow;
  const set = emptySet(space.size);
  for (let configuration = 0; configuration < space.size; configuration += 1) {
    const models = space.agents.map((_, agent) => modelIn(space, configuration, agent));
    if (accurate.some((wanted) => wanted.join() === models.join())) addConfiguration(set, configuration);
  }
  program.say(set);
  return program;
}

const modelsOf = ({ workflow: { space } }: ProgramConfigurations, configuration: number): readonly number[] =>
  space.agents.map((_, agent) => modelIn(space, configuration, agent));

test("branches side by side take as long as the slower of them, not as long as both", () => {
  // 10 s in parallel with 10 s, then 2 s: 12 s. In sequence they would take longer than 2 s in parallel with 2 s, then 15 s: 17 s.
  const program = programOf([SMALL, SMALL, MEDIUM], [MEDIUM, MEDIUM, LARGE]);
  expect(modelsOf(program, quickestConfiguration(program, 0, [10, 2, 15]))).toEqual([SMALL, SMALL, MEDIUM]);
});

test("an agent that has its model counts for nothing of what is to come", () => {
  // 1 s and 10 s instead of 20 s and 1 s; after the first agent's 20 s the other would end sooner.
  const program = programOf([LARGE, SMALL, MEDIUM], [LARGE, LARGE, SMALL]);
  program.choose(0, LARGE);
  expect(modelsOf(program, quickestConfiguration(program, 0, [1, 10, 20]))).toEqual([LARGE, SMALL, MEDIUM]);
});

test("of configurations that take as long the cheapest is taken", () => {
  const program = programOf([MEDIUM, MEDIUM, SMALL], [MEDIUM, SMALL, SMALL]);
  expect(modelsOf(program, quickestConfiguration(program, 0, [5, 10, 100]))).toEqual([MEDIUM, SMALL, SMALL]);
});

test("what needs a model that is out is left out, and where nothing else is left there is none", () => {
  const program = programOf([SMALL, SMALL, MEDIUM]);
  expect(modelsOf(program, cheapestConfiguration(program, 0))).toEqual([SMALL, SMALL, MEDIUM]);
  expect(modelsOf(program, cheapestConfiguration(program, 1 << SMALL))).toEqual([LARGE, LARGE, LARGE]);
  expect(cheapestConfiguration(program, (1 << SMALL) | (1 << LARGE))).toBe(-1);
  expect(quickestConfiguration(program, (1 << SMALL) | (1 << LARGE), [1, 1, 1])).toBe(-1);
});

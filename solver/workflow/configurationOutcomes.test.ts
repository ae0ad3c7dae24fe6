import fc from "fast-check";
import { expect, test } from "vitest";
import { configurationQuality, oracleConfigurations, upgradeViolations } from "./configurationOutcomes";
import { hasConfiguration, membersOf } from "./configurationSet";
import { configurationSpace, modelIn } from "./configurationSpace";
import { drawPrograms } from "./drawPrograms";
import { programQuality } from "./programQuality";
import type { ProgramSample } from "./programSample";
import { workflows } from "./templates";
import { testOutcomes } from "./testing/testOutcomes";
import { documentOfWorkflow } from "./workflowDocuments";

const SIZES = ["small", "large", "larger"];
const PROMPTS = 60;
const PROGRAMS = 40;

/** Three models' outcomes, some of which are graded. */
const outcomes = (() => {
  const two = testOutcomes(PROMPTS);
  const [, large] = two.models;
  if (large === undefined) throw new Error("Two models");
  const label = large.label.map((value, at) => (at % 3 === 0 ? 55 : value));
  return { ...two, models: [...two.models, { ...large, model: "larger", label }] };
})();
const chosen = workflows.filter(({ name }) =>
  ["self-refine", "text-to-sql", "voting", "decomposition", "planner-solver-verifier-solver"].includes(name),
);
const draw = (seed: number, misleads?: number): ProgramSample =>
  drawPrograms({
    ...{ outcomes, prompts: Int32Array.from({ length: PROMPTS }, (_, at) => at), correlation: 0.5, seed },
    ...(misleads === undefined ? {} : { misleads }),
    mix: chosen.map((workflow) => ({ workflow, share: 1 })),
    arrivalSeconds: Float64Array.from({ length: PROGRAMS }, (_, at) => at),
  });
const spaces = new Map(chosen.map((workflow) => [workflow.name, configurationSpace(documentOfWorkflow(workflow), SIZES)]));
const spaceOf = (sample: ProgramSample, program: number) => {
  const space = spaces.get(sample.workflows[sample.workflow[program] ?? -1]?.name ?? "");
  if (space === undefined) throw new Error("Every workflow has a space");
  return space;
};

const anySample = fc
  .tuple(fc.nat({ max: 1000 }), fc.option(fc.constantFrom(0, 0.5, 1)))
  .map(([seed, misleads]) => draw(seed, misleads ?? undefined));

test("a configuration is worth what a program is worth whose requests those models answered", () => {
  fc.assert(
    fc.property(anySample, fc.nat(), (sample, drawn) => {
      for (let program = 0; program < 5; program += 1) {
        const space = spaceOf(sample, program);
        const quality = configurationQuality(sample, program, space);
        for (const configuration of [0, drawn % space.size, space.size - 1]) {
          const models = new Int8Array(sample.program.length).fill(-1);
          for (const agent of space.agents.keys())
            models[(sample.firstRequest[program] ?? 0) + agent] = modelIn(space, configuration, agent);
          expect(quality[configuration]).toBe(programQuality(sample, program, models));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("no configuration is worth less where every label rises, whoever is misled", () => {
  fc.assert(
    fc.property(anySample, fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 7, maxLength: 7 }), (sample, rises) => {
      const label = sample.label.map((labels, model) =>
        labels.map((value, request) => Math.min(100, value + (rises[(model + request) % rises.length] ?? 0))),
      );
      for (let program = 0; program < 5; program += 1) {
        const before = configurationQuality(sample, program, spaceOf(sample, program));
        const after = configurationQuality({ ...sample, label }, program, spaceOf(sample, program));
        for (const [configuration, worth] of before.entries()) expect(after[configuration]).toBeGreaterThanOrEqual(worth - 1e-9);
      }
    }),
    { numRuns: 40 },
  );
});

test("where all who follow one are misled nothing is worth more than where none is, and what nobody can be misled by is worth the same", () => {
  const [plain, never, always] = [draw(3), draw(3, 0), draw(3, 1)];
  expect(plain.misled).toBeUndefined();
  for (const misled of [never, always]) expect({ ...misled, misled: undefined }).toEqual({ ...plain, misled: undefined });
  let lowered = 0;
  for (let program = 0; program < PROGRAMS; program += 1) {
    const space = spaceOf(plain, program);
    const quality = configurationQuality(plain, program, space);
    expect(configurationQuality(never, program, space)).toEqual(quality);
    const misled = configurationQuality(always, program, space);
    for (const [configuration, worth] of misled.entries()) expect(worth).toBeLessThanOrEqual((quality[configuration] ?? 0) + 1e-9);
    const same = misled.every((worth, configuration) => worth === quality[configuration]);
    if (["self-refine", "voting"].includes(plain.workflows[plain.workflow[program] ?? -1]?.name ?? "")) expect(same).toBe(true);
    if (!same) lowered += 1;
  }
  expect(lowered).toBeGreaterThan(5);
});

test("a higher chance misleads more of the same requests, and shares of the misled are as asked", () => {
  const [some, more] = [0.3, 0.6].map((misleads) => draw(8, misleads).misled ?? new Uint8Array());
  expect(some?.every((misled, request) => misled <= (more?.[request] ?? 0))).toBe(true);
  const many = drawPrograms({
    ...{ outcomes, prompts: Int32Array.of(0), correlation: 0, misleads: 0.3, seed: 1, mix: [{ workflow: chosen[0]!, share: 1 }] },
    arrivalSeconds: new Float64Array(10_000),
  }).misled;
  const share = Array.from(many ?? []).reduce((sum, misled) => sum + misled, 0) / (many?.length ?? 1);
  expect(Math.abs(share - 0.3)).toBeLessThan(0.02);
  for (const misleads of [-0.1, 1.1, Number.NaN]) {
    expect(() => draw(1, misleads)).toThrow(`The chance to be misled lies in 0..1, found ${misleads}`);
  }
});

test("the oracle accepts what is worth as much as the largest models throughout, these always, and nothing else", () => {
  fc.assert(
    fc.property(anySample, (sample) => {
      const accurate = oracleConfigurations(sample, spaces);
      for (let program = 0; program < 5; program += 1) {
        const quality = configurationQuality(sample, program, spaceOf(sample, program));
        const largest = quality[quality.length - 1] ?? 0;
        const set = accurate(program) ?? new Uint32Array();
        for (const [configuration, worth] of quality.entries()) expect(hasConfiguration(set, configuration)).toBe(worth >= largest - 1e-9);
        expect(accurate(program)).toBe(set);
      }
    }),
    { numRuns: 40 },
  );
});

test("where nothing is known of quality only the largest models throughout count as accurate", () => {
  const sample = draw(1);
  const unknown = { ...sample, label: sample.label.map((labels) => labels.map(() => Number.NaN)) };
  const space = spaceOf(unknown, 0);
  expect(membersOf(oracleConfigurations(unknown, spaces)(0) ?? new Uint32Array())).toEqual([space.size - 1]);
  expect(upgradeViolations(space, [configurationQuality(unknown, 0, space)])).toMatchObject({ falls: Float64Array.of(), perProgram: 0 });
});

test("the oracle says nothing of other workflows, nor of programs that take another shape", () => {
  const [refine, routed] = ["self-refine", "qa-router"].map((name) => workflows.find((workflow) => workflow.name === name)!);
  const sample = drawPrograms({
    ...{ outcomes, prompts: Int32Array.of(0, 1, 2), correlation: 0, seed: 1 },
    mix: [refine!, routed!].map((workflow) => ({ workflow, share: 1 })),
    arrivalSeconds: Float64Array.from({ length: 60 }, (_, at) => at),
  });
  const accurate = oracleConfigurations(sample, new Map([["qa-router", configurationSpace(documentOfWorkflow(routed!), SIZES)]]));
  const said = sample.workflow.reduce((seen, workflow, program) => {
    const { name, stages } = sample.workflows[workflow]!;
    return seen.add(`${name} ${stages.at(-1)?.role}: ${accurate(program) === undefined ? "nothing" : "a set"}`);
  }, new Set<string>());
  expect([...said].sort()).toEqual([
    "qa-router humanities-expert: nothing",
    "qa-router maths-expert: a set",
    "self-refine refiner: nothing",
  ]);
});

test("a space over models without outcomes, or of another number of agents, is refused", () => {
  const sample = draw(1);
  const refine = documentOfWorkflow(chosen.find(({ name }) => name === "self-refine")!);
  const program = sample.workflow.findIndex((workflow) => sample.workflows[workflow]?.name === "self-refine");
  expect(() => configurationQuality(sample, program, configurationSpace(refine, ["tiny"]))).toThrow("No outcomes of tiny");
  const other = sample.workflow.findIndex((workflow) => sample.workflows[workflow]?.name === "voting");
  expect(() => configurationQuality(sample, other, configurationSpace(refine, SIZES))).toThrow(
    "has 5 stages, and its configurations 3 agents",
  );
});

test("violations count upgrades of one agent by any number of sizes, in means and of single programs", () => {
  const space = configurationSpace(documentOfWorkflow({ name: "two", title: "", stages: [chosen[0]!.stages[0]!] }), SIZES);
  // Three upgrades: small to large falls in the first program, small to larger in none, large to larger in the second.
  expect(upgradeViolations(space, [Float64Array.of(50, 0, 100), Float64Array.of(0, 100, 40)])).toEqual({
    upgrades: 3,
    falls: Float64Array.of(),
    perProgram: 2 / 6,
  });
  expect(upgradeViolations(space, [Float64Array.of(50, 0, 100)])).toEqual({
    upgrades: 3,
    falls: Float64Array.of(50),
    perProgram: 1 / 3,
  });
});

import { expect, it } from "vitest";
import { answerRelations } from "./configurationOutcomes";
import { configurationSpace } from "./configurationSpace";
import type { ProgramSample } from "./programSample";
import type { Workflow } from "./workflow";
import { documentOfWorkflow } from "./workflowDocuments";

const stage = { instructionTokens: 0, lengthRatio: 1, lengthSpread: 0 };
const pair: Workflow = {
  ...{ name: "pair", title: "A test's", source: "none" },
  stages: [
    { ...stage, role: "helper", part: "helps", reads: [] },
    { ...stage, role: "solver", part: "solves", reads: [0] },
  ],
};
const models = ["small", "large"];
const space = configurationSpace(documentOfWorkflow(pair), models);

/** Programs by the labels of the small model; the large one is always right. */
function sampleOf(...small: readonly (readonly [number, number])[]): ProgramSample {
  const requests = 2 * small.length;
  const whole = Int32Array.from({ length: requests }, (_, request) => request >> 1);
  return {
    ...{ models, workflows: [pair], arrivalSeconds: new Float64Array(small.length), workflow: new Uint16Array(small.length) },
    ...{ prompt: Int32Array.from(small.keys()), program: whole, row: whole, givenTokens: new Int32Array(requests) },
    firstRequest: Int32Array.from({ length: small.length + 1 }, (_, program) => 2 * program),
    outputTokens: models.map(() => new Int32Array(requests).fill(1)),
    label: [Float64Array.from(small.flat()), new Float64Array(requests).fill(100)],
  };
}

it("answers on which programs depend are right where these are accurate, those on which they do not depend say nothing", () => {
  const right = Array.from({ length: 50 }, (_, at) => [at % 2 === 0 ? 100 : 0, at % 4 < 2 ? 100 : 0] as const);
  const relations = answerRelations(sampleOf(...right), space, "pair");
  // Programs are as good as their solver's answer: with the small model there, accurate where it is right.
  expect(relations.map(({ agent, model }) => `${agent} ${model}`)).toEqual(["solver small"]);
  expect(relations[0]!.rightIfAccurate).toBeGreaterThan(0.98);
  expect(relations[0]!.rightIfNot).toBeLessThan(0.02);
});

it("programs of other workflows and of unknown quality say nothing", () => {
  const sample = sampleOf([100, 100], [100, Number.NaN]);
  expect(answerRelations(sample, space, "other")).toEqual([]);
  const [only] = answerRelations(sample, space, "pair").filter(({ agent }) => agent === "solver");
  expect(only).toMatchObject({ rightIfAccurate: 2.5 / 3, rightIfNot: 0.5 });
});

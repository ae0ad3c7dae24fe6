import fc from "fast-check";
import { expect, test } from "vitest";
import { drawPrograms } from "./drawPrograms";
import { joinedPrograms } from "./joinedPrograms";
import { withOutcomes } from "./measuredOutcomes";
import { measuredPrograms } from "./measuredPrograms";
import type { ProgramSample } from "./programSample";
import { workflows } from "./templates";
import { testOutcomes } from "./testing/testOutcomes";

const outcomes = testOutcomes(100);
const prompts = Int32Array.from({ length: 100 }, (_, at) => at);
const call = (agent: string, completionTokens: number) => ({ agent, phase: "", promptTokens: 400, completionTokens });
const runs = [
  { id: "long", calls: [call("planner", 10), call("coder", 200), call("reviewer", 40)] },
  { id: "short", calls: [call("coder", 90)] },
];

const drawn = (programs: number, names: readonly string[] = ["self-refine", "ensemble"]): ProgramSample =>
  drawPrograms({
    ...{ outcomes, prompts, correlation: 0.5, misleads: 0.5, seed: 1 },
    mix: workflows.filter(({ name }) => names.includes(name)).map((workflow) => ({ workflow, share: 1 })),
    arrivalSeconds: Float64Array.from({ length: programs }, (_, at) => at / 2),
  });
const recorded = (programs: number): ProgramSample =>
  withOutcomes(
    measuredPrograms({ runs, models: ["small", "large"], arrivalSeconds: Float64Array.from({ length: programs }, (_, at) => at), seed: 1 }),
    { outcomes, prompts, correlation: 0.5, seed: 1 },
  );

/** All that a sample says of one program. */
function programOf(sample: ProgramSample, program: number) {
  const [first = 0, end = 0] = sample.firstRequest.subarray(program, program + 2);
  const requests = Array.from({ length: end - first }, (_, at) => first + at);
  return {
    workflow: sample.workflows[sample.workflow[program] ?? -1],
    prompt: sample.prompt[program],
    programs: requests.map((at) => sample.program[at]),
    requests: requests.map((at) => [
      ...[sample.row[at], sample.givenTokens[at], sample.misled?.[at] ?? 0],
      ...sample.models.map((_, model) => [
        ...[sample.outputTokens[model]?.[at], sample.label[model]?.[at], sample.votes?.[model]?.[at] ?? null],
      ]),
    ]),
  };
}

test("each program is wholly that of the sample that it is taken from, at the arrival of the first", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (others) => {
      const [one, other] = [drawn(others.length), recorded(others.length)];
      const joined = joinedPrograms(one, other, (program) => others[program] === true);
      expect(joined.arrivalSeconds).toEqual(one.arrivalSeconds);
      for (const [program, isOther] of others.entries())
        expect(programOf(joined, program)).toEqual(programOf(isOther ? other : one, program));
      expect(joined.firstRequest[others.length]).toBe(joined.program.length);
    }),
    { numRuns: 50 },
  );
});

test("of samples without votes or marks of being misled, a joined one has none", () => {
  const joined = joinedPrograms(recorded(3), recorded(3), (program) => program === 1);
  expect([joined.votes, joined.misled]).toEqual([undefined, undefined]);
});

test("samples of other models or of another number of programs are refused", () => {
  const other = { ...recorded(3), models: ["large", "small"] };
  expect(() => joinedPrograms(drawn(3), other, () => true)).toThrow("the same models, found small, large and large, small");
  expect(() => joinedPrograms(drawn(3), recorded(2), () => true)).toThrow("as many programs, found 3 and 2");
});

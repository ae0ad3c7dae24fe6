import { expect, test } from "vitest";
import { arrivals } from "../engine/arrivals";
import { mean } from "../numeric/quantile";
import { seededRandom } from "../numeric/random";
import { drawSample } from "../workload/sample";
import { drawPrograms, type ProgramDraw } from "./drawPrograms";
import type { ProgramSample } from "./programSample";
import { workflows } from "./templates";
import { testOutcomes } from "./testing/testOutcomes";
import type { Workflow } from "./workflow";

const outcomes = testOutcomes(300);
const allPrompts = Int32Array.from({ length: 300 }, (_, at) => at);
const named = (name: string): Workflow => {
  const workflow = workflows.find((one) => one.name === name);
  if (workflow === undefined) throw new Error(`No workflow ${name}`);
  return workflow;
};
const everyWorkflow = workflows.map((workflow) => ({ workflow, share: 1 }));
const oneASecond = (programs: number): Float64Array => Float64Array.from({ length: programs }, (_, at) => at);

const draw = (changes: Partial<ProgramDraw> = {}): ProgramSample =>
  drawPrograms({
    outcomes,
    prompts: allPrompts,
    mix: everyWorkflow,
    correlation: 0.5,
    arrivalSeconds: oneASecond(500),
    seed: 1,
    ...changes,
  });

/** Pearson's correlation over programs between a value of two stages. */
function correlationOf(sample: ProgramSample, stages: readonly [number, number], value: (request: number) => number): number {
  const [one, other] = stages.map((stage) =>
    Float64Array.from({ length: sample.arrivalSeconds.length }, (_, program) => value((sample.firstRequest[program] ?? 0) + stage)),
  );
  if (one === undefined || other === undefined) throw new Error("Two stages");
  const [oneMean, otherMean] = [mean(one), mean(other)];
  const moment = (a: Float64Array, aMean: number, b: Float64Array, bMean: number) =>
    mean(a.map((x, at) => (x - aMean) * ((b[at] ?? 0) - bMean)));
  return (
    moment(one, oneMean, other, otherMean) / Math.sqrt(moment(one, oneMean, one, oneMean) * moment(other, otherMean, other, otherMean))
  );
}

test("requests of a program stand together, one a stage of a workflow of one shape", () => {
  const sample = draw({ arrivalSeconds: oneASecond(3000) });
  for (let program = 0; program < 3000; program += 1) {
    const [first = 0, end = 0] = sample.firstRequest.subarray(program, program + 2);
    const workflow = sample.workflows[sample.workflow[program] ?? -1];
    expect(end - first).toBe(workflow?.stages.length);
    for (let request = first; request < end; request += 1) expect(sample.program[request]).toBe(program);
  }
  expect(sample.firstRequest[3000]).toBe(sample.program.length);
  expect(sample.workflows.every(({ otherShapes }) => otherShapes === undefined)).toBe(true);
  expect(new Set(sample.workflow).size).toBe(sample.workflows.length);
});

test("the same seed gives the same programs, another seed others", () => {
  expect(draw()).toEqual(draw());
  expect(draw({ seed: 2 }).row).not.toEqual(draw().row);
});

test("a sample of fewer programs is the beginning of one of more, and the same ones come at every rate", () => {
  const [few, more] = [draw({ arrivalSeconds: oneASecond(100) }), draw({ arrivalSeconds: oneASecond(101) })];
  const requests = few.program.length;
  expect(more.program.length).toBeGreaterThan(requests);
  expect(more.workflow.subarray(0, 100)).toEqual(few.workflow);
  for (const array of ["row", "givenTokens", "program"] as const) expect(more[array].subarray(0, requests)).toEqual(few[array]);
  expect(more.outputTokens.map((tokens) => tokens.subarray(0, requests))).toEqual(few.outputTokens);

  const poisson = (requestsPerSecond: number) => arrivals({ law: { kind: "poisson" }, requests: 100, requestsPerSecond, seed: 3 });
  const [slow, fast] = [draw({ arrivalSeconds: poisson(1) }), draw({ arrivalSeconds: poisson(4) })];
  expect({ ...fast, arrivalSeconds: null }).toEqual({ ...slow, arrivalSeconds: null });
  for (const [at, seconds] of slow.arrivalSeconds.entries()) expect(fast.arrivalSeconds[at]).toBeCloseTo(seconds / 4, 9);
});

test("arrivals of a trace come to programs by the rule that samples of requests have", () => {
  const random = seededRandom(4);
  const recorded = new Float64Array(40);
  for (let at = 1; at < 40; at += 1) recorded[at] = (recorded[at - 1] ?? 0) + random.exponential(3);
  const asked = { requests: 100, requestsPerSecond: 2, seed: 1 };
  const ofRequests = drawSample({ outcomes, arrivalSeconds: recorded, seed: 1 }, { ...asked, part: "heldOut" }).arrivalSeconds;
  for (const [at, ofProgram] of arrivals({ law: { kind: "trace", arrivalSeconds: recorded }, ...asked }).entries()) {
    expect(ofProgram).toBeCloseTo(ofRequests[at] ?? Number.NaN, 9);
  }
});

test("only rows that may be drawn are drawn, each stage as often as the table has them, whatever the correlation", () => {
  const prompts = Int32Array.from({ length: 20 }, (_, at) => 7 + 3 * at);
  for (const correlation of [0, 0.4, 1]) {
    const sample = draw({
      prompts,
      correlation,
      mix: [{ workflow: named("planner-coder-qa-coder"), share: 1 }],
      arrivalSeconds: oneASecond(20_000),
    });
    for (let stage = 0; stage < 4; stage += 1) {
      const drawn = new Map<number, number>([...prompts].map((row) => [row, 0]));
      for (let program = 0; program < 20_000; program += 1) {
        const row = sample.row[4 * program + stage] ?? -1;
        drawn.set(row, (drawn.get(row) ?? Number.NaN) + 1);
      }
      expect([...drawn.keys()]).toEqual([...prompts]);
      // 1000 expected of each; six standard deviations either way.
      for (const count of drawn.values()) expect(Math.abs(count - 1000)).toBeLessThan(6 * Math.sqrt(950));
    }
  }
});

test("any two stages of a program correlate in label and in the length of their rows as was asked", () => {
  for (const correlation of [0, 0.25, 0.5, 1]) {
    const sample = draw({
      correlation,
      mix: [{ workflow: named("planner-coder-qa-coder"), share: 1 }],
      arrivalSeconds: oneASecond(20_000),
    });
    for (const stages of [
      [0, 1],
      [1, 3],
      [2, 3],
    ] as const) {
      const labels = correlationOf(sample, stages, (request) => sample.label[0]?.[request] ?? 0);
      const rowTokens = correlationOf(sample, stages, (request) => outcomes.models[1]?.outputTokens[sample.row[request] ?? 0] ?? 0);
      for (const found of [labels, rowTokens]) {
        if (correlation === 1) expect(found).toBeCloseTo(1, 9);
        else expect(Math.abs(found - correlation)).toBeLessThan(0.035);
      }
    }
  }
});

test("a change of correlation changes rows alone, and a workflow of one stage keeps its prompt's row", () => {
  const [none, all] = [draw({ correlation: 0 }), draw({ correlation: 1 })];
  expect(none.workflow).toEqual(all.workflow);
  expect(none.prompt).toEqual(all.prompt);
  expect(none.givenTokens).toEqual(all.givenTokens);
  expect(all.row).toEqual(all.program.map((program) => all.prompt[program] ?? -1));
  const single = draw({ correlation: 0, mix: [{ workflow: named("coder"), share: 1 }] });
  expect(single.row).toEqual(single.prompt);
});

test("a stage writes its row's tokens by the role's median ratio and spread, the same factor for every model", () => {
  const { stages } = named("planner-coder-qa-coder");
  const table = {
    ...outcomes,
    models: outcomes.models.map((model) => ({ ...model, outputTokens: model.outputTokens.map((tokens) => 1000 * tokens) })),
  };
  const sample = draw({
    outcomes: table,
    mix: [{ workflow: named("planner-coder-qa-coder"), share: 1 }],
    arrivalSeconds: oneASecond(20_000),
  });
  const factors = table.models.map(({ outputTokens }, model) =>
    Float64Array.from(sample.row, (row, request) => (sample.outputTokens[model]?.[request] ?? 0) / (outputTokens[row] ?? 0)),
  );
  const apart = (factors[0] ?? new Float64Array()).map((factor, request) => Math.abs((factors[1]?.[request] ?? 0) / factor - 1));
  expect(Math.max(...apart.subarray(0, 10_000))).toBeLessThan(0.05);
  for (const [at, { lengthRatio, lengthSpread }] of stages.entries()) {
    const logs = (factors[0] ?? new Float64Array()).filter((_, request) => request % 4 === at).map(Math.log);
    const center = mean(logs);
    expect(Math.abs(center - Math.log(lengthRatio))).toBeLessThan(0.03);
    expect(Math.abs(Math.sqrt(mean(logs.map((log) => (log - center) ** 2))) - lengthSpread)).toBeLessThan(0.02);
  }
});

test("labels are the rows', given tokens instructions and prompt, and every request writes something", () => {
  const sample = draw();
  for (const [request, row] of sample.row.entries()) {
    const program = sample.program[request] ?? 0;
    const stage = sample.workflows[sample.workflow[program] ?? 0]?.stages[request - (sample.firstRequest[program] ?? 0)];
    expect(sample.givenTokens[request]).toBe((stage?.instructionTokens ?? 0) + (outcomes.inputTokens[sample.prompt[program] ?? 0] ?? 0));
    for (const [model, { label }] of outcomes.models.entries()) {
      expect(sample.label[model]?.[request]).toBe(label[row]);
      expect(sample.outputTokens[model]?.[request]).toBeGreaterThanOrEqual(1);
    }
  }
});

test("shares of the mix and of a workflow's shapes come out as stated", () => {
  const mix = [
    { workflow: named("coder"), share: 0.2 },
    { workflow: named("code-with-feedback"), share: 0.6 },
  ];
  const sample = draw({ mix, arrivalSeconds: oneASecond(40_000) });
  expect(sample.workflows.map(({ name, stages }) => [name, stages.length])).toEqual([
    ["coder", 1],
    ["code-with-feedback", 5],
    ["code-with-feedback", 7],
    ["code-with-feedback", 9],
    ["code-with-feedback", 11],
  ]);
  const shares = sample.workflows.map((_, shape) => mean(Float64Array.from(sample.workflow, (drawn) => (drawn === shape ? 1 : 0))));
  const expected = [0.25, 0.75 * 0.74, 0.75 * 0.26 * 0.74, 0.75 * 0.26 ** 2 * 0.74, 0.75 * 0.26 ** 3];
  for (const [shape, share] of expected.entries()) expect(Math.abs((shares[shape] ?? 0) - share)).toBeLessThan(0.012);
});

test("what cannot be drawn from is refused", () => {
  expect(() => draw({ prompts: new Int32Array() })).toThrow("at least one prompt");
  expect(() => draw({ mix: [] })).toThrow("A mix needs workflows with shares above 0");
  for (const correlation of [-0.01, 1.01, Number.NaN]) {
    expect(() => draw({ correlation })).toThrow(`The correlation of stages lies in 0..1, found ${correlation}`);
  }
});

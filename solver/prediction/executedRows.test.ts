import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { sketchOf } from "@/solver/words/sketch";
import { configurationQuality } from "@/solver/workflow/configurationOutcomes";
import { configurationNames, configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { encodeArtefact } from "./artefact";
import { type ConfigurationRows, configurationRowsOf } from "./configurationRows";
import { trainConfigurations } from "./configurations";
import { executedRows, LEAST_INPUTS, type RunLine } from "./executedRows";
import { heldOutConfigurations } from "./heldOut";
import { testWorkflow } from "./testing/testRows";

const models = ["small", "middle", "large"];
const space = configurationSpace(testWorkflow, models);

const numbered = (texts: readonly (string | null)[]): RunLine[] => texts.map((text, at) => ({ line: at + 1, text }));
const run = (input: string, configuration: object, quality: unknown): string => JSON.stringify({ input, configuration, quality });

/** Every configuration of a space, executed once for each input. */
const everyRun = (inputs: readonly string[], of: typeof space, qualityOf: (input: number, configuration: number) => number): string[] =>
  inputs.flatMap((input, row) => Array.from({ length: of.size }, (_, at) => run(input, configurationNames(of, at), qualityOf(row, at))));

const inputsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `please solve case ${at}`);

/** An agent restricted to some models, one bound to another's, and one that may have any. */
const bound = workflowDocumentSchema.parse({
  name: "bound",
  agents: [{ name: "a", models: ["large", "small"] }, { name: "b", reads: ["a"], sameModelAs: "a" }, { name: "c" }],
});

describe("rows of executed runs", () => {
  it("are those of the same outcomes when they are modelled, and make the same heads to the byte", () => {
    const random = seededRandom(7);
    const inputs = Array.from(
      { length: 300 },
      (_, at) => `${random.next() < 0.5 ? "sum and count the" : "prove and bound the"} list of case ${at}`,
    );
    const isHard = inputs.map((input) => input.startsWith("prove"));
    const label = (easy: number, hard: number) => Float64Array.from(isHard, (one) => (random.next() < (one ? hard : easy) ? 100 : 0));
    const tokens = Int32Array.from(inputs, ({ length }) => Math.ceil(length / 4));
    const labels = [label(0.98, 0.1), label(0.99, 0.6), label(0.99, 0.95)];
    const sample = drawPrograms({
      outcomes: {
        ...{ promptIds: inputs, categories: inputs, inputTokens: tokens },
        models: models.map((model, at) => ({ model, tableName: model, outputTokens: tokens, label: labels[at]!, judged: labels[at]! })),
      },
      ...{ prompts: Int32Array.from(inputs.keys()), mix: [{ workflow: workflowOfDocument(testWorkflow), share: 1 }] },
      ...{ correlation: 0.9, arrivalSeconds: new Float64Array(inputs.length), seed: 3 },
    });
    const drawn = [...sample.prompt.entries()].filter(([program, prompt]) => sample.prompt.indexOf(prompt) === program);
    expect(drawn.length).toBeGreaterThan(LEAST_INPUTS);
    const quality = drawn.map(([program]) => configurationQuality(sample, program, space));
    const found = executedRows(
      numbered(
        everyRun(
          drawn.map(([, prompt]) => inputs[prompt]!),
          space,
          (row, at) => quality[row]![at]!,
        ),
      ),
      testWorkflow,
      models,
    );
    // Further programs of a prompt are assigned to another workflow: a mean over several is not the share of them that is accurate.
    const first = new Set(drawn.map(([program]) => program));
    const once = { ...sample, workflow: sample.workflow.map((own, program) => (first.has(program) ? own : 1)) };
    const modelled = configurationRowsOf(once, space, { promptTokens: tokens, sketches: inputs.map(sketchOf) }, testWorkflow);
    const ordered = (of: ConfigurationRows): ConfigurationRows => {
      const rows = Array.from(of.prompts, (at) => modelled.prompts.indexOf(inputs.indexOf(found.inputs[at]!)));
      const cells = (values: Float32Array) =>
        Float32Array.from(rows.flatMap((row) => [...values.subarray(row * space.size, (row + 1) * space.size)]));
      return {
        ...{ workflow: testWorkflow, space, prompts: of.prompts, facts: rows.map((row) => modelled.facts[row]!) },
        ...{ programs: new Float32Array(rows.length).fill(1), accurate: cells(modelled.accurate), loss: cells(modelled.loss) },
      };
    };
    const [rows, heldOut] = [ordered(found.rows), ordered(found.heldOut)];
    expect([found.rows, found.heldOut]).toEqual([rows, heldOut]);
    const [executed, other] = [trainConfigurations(found.rows, { seed: 1 }), trainConfigurations(rows, { seed: 1 })];
    expect(executed.threshold).toBeLessThan(1);
    expect(Buffer.from(encodeArtefact(executed)).equals(encodeArtefact(other))).toBe(true);
    expect(heldOutConfigurations(executed, found.heldOut)).toEqual(heldOutConfigurations(other, heldOut));
  });

  it("have every configuration at its place, averaged over its runs, whatever the order of the lines", () => {
    const small = configurationSpace(bound, models);
    const inputs = inputsOf(LEAST_INPUTS);
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 3 }), (seed, times) => {
        const random = seededRandom(seed);
        const qualities = Array.from({ length: times }, () => inputs.map(() => Array.from({ length: small.size }, () => random.int(101))));
        const lines = qualities.flatMap((quality) => everyRun(inputs, small, (row, at) => quality[row]![at]!));
        const shuffled = lines.map((text) => ({ text, key: random.next() })).sort((a, b) => a.key - b.key);
        const [found, again] = [lines, shuffled.map(({ text }) => text)].map((texts) => executedRows(numbered(texts), bound, models));
        expect(again).toEqual(found);
        expect(found!.rows.prompts.length + found!.heldOut.prompts.length).toBe(inputs.length);
        expect(found!.runs).toBe(found!.rows.prompts.length * small.size * times);
        for (const rows of [found!.rows, found!.heldOut])
          for (const [row, prompt] of rows.prompts.entries()) {
            const input = inputs.indexOf(found!.inputs[prompt]!);
            const means = Array.from({ length: small.size }, (_, at) => qualities.reduce((sum, of) => sum + of[input]![at]!, 0) / times);
            for (const [at, mean] of means.entries()) {
              expect(rows.loss[row * small.size + at]).toBeCloseTo(means.at(-1)! - mean, 4);
              expect(rows.accurate[row * small.size + at]).toBe(mean >= means.at(-1)! - 1e-9 ? 1 : 0);
            }
          }
      }),
      { numRuns: 20 },
    );
  });

  it("are seven in ten to learn of, drawn from the whole file, and no input is in both parts", () => {
    const inputs = inputsOf(200);
    const { rows, heldOut, inputs: whole } = executedRows(numbered(everyRun(inputs, space, () => 50)), testWorkflow, models);
    expect([rows.prompts.length, heldOut.prompts.length]).toEqual([140, 60]);
    expect(new Set([...rows.prompts, ...heldOut.prompts].map((at) => whole[at])).size).toBe(200);
    expect([...rows.prompts].some((at) => inputs.indexOf(whole[at]!) > 150)).toBe(true);
  });
});

describe("what of a file of runs is left out", () => {
  const inputs = inputsOf(LEAST_INPUTS);
  const small = configurationSpace(bound, models);
  const good = everyRun(inputs, small, (row, at) => (row + at) % 101);
  const names = configurationNames(small, 0);

  it("is counted by what is wrong with it, with the first line of each, and changes nothing of the rest", () => {
    const wrong = [
      ...["no json", "[]", "null", run("", names, 5), run("x", names, "5"), JSON.stringify({ input: "x", quality: 4 })],
      ...[run("x", names, -1), run("x", names, 100.5)],
      ...[run("x", { ...names, d: "small" }, 5), run("x", { a: "small", b: "small" }, 5), run("x", {}, 5)],
      run("x", { ...names, c: "stranger" }, 5),
      ...[run("x", { a: "middle", b: "middle", c: "small" }, 5), run("x", { a: "small", b: "large", c: "small" }, 5)],
    ];
    const found = executedRows(numbered([...wrong, ...good, null]), bound, models);
    const clean = executedRows(numbered(good), bound, models);
    expect({ ...found, leftOut: clean.leftOut }).toEqual(clean);
    expect(clean.leftOut).toEqual({ lines: [], inputs: 0, first: null });
    expect(found.leftOut.lines).toEqual([
      { problem: "damaged", lines: 7, firstLine: 1 },
      { problem: "agents", lines: 3, firstLine: 9 },
      { problem: "quality", lines: 2, firstLine: 7 },
      { problem: "constraints", lines: 2, firstLine: 13 },
      { problem: "models", lines: 1, firstLine: 12 },
    ]);
  });

  it("are inputs of which a configuration was not executed, and the first says which", () => {
    const lacking = everyRun(["half", "other"], small, () => 70).filter((_, at) => at % small.size !== 2);
    const { leftOut, inputs: whole } = executedRows(numbered([...good, ...lacking]), bound, models);
    expect([whole.includes("half"), whole.length]).toEqual([false, LEAST_INPUTS]);
    expect(leftOut).toEqual({ lines: [], inputs: 2, first: { line: good.length + 1, lacks: configurationNames(small, 2) } });
  });

  it("is all where no line is a run or too few inputs are whole, which is refused in a sentence", () => {
    expect(() => executedRows([], bound, models)).toThrow("The file has no lines");
    expect(() =>
      executedRows(numbered(["", run("x", { ...names, c: "else" }, 5), run("y", { ...names, c: "else" }, 5)]), bound, models),
    ).toThrow(
      "No line is an executed run of bound over small, middle, large: 2 have a model that is not among the chosen ones, line 2 first.",
    );
    expect(() => executedRows(numbered(good.slice(0, -1)), bound, models)).toThrow(
      `All 6 configurations of bound were executed of 49 inputs, and learning needs 50; the input of line ${good.length - 5} lacks a on large, b on large, c on large.`,
    );
  });
});

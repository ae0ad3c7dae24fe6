import { expect, test } from "vitest";
import { mean } from "../numeric/quantile";
import { withOutcomes } from "./measuredOutcomes";
import { measuredPrograms } from "./measuredPrograms";
import { programQuality } from "./programQuality";
import { testOutcomes } from "./testing/testOutcomes";

const outcomes = testOutcomes(100);
const call = (agent: string, completionTokens: number) => ({ agent, phase: "", promptTokens: 400, completionTokens });
const runs = [
  { id: "long", calls: [call("planner", 10), call("coder", 200), call("reviewer", 40)] },
  { id: "short", calls: [call("coder", 90)] },
];
const plain = measuredPrograms({ runs, models: ["small", "large"], arrivalSeconds: new Float64Array(2000), seed: 1 });
/** Half of the rows may be drawn. */
const prompts = Int32Array.from({ length: 50 }, (_, at) => 2 * at);
const draw = (correlation = 0.5, seed = 1) => withOutcomes(plain, { outcomes, prompts, correlation, seed });

test("every call has the label of its row, a row that may be drawn, and its recorded lengths", () => {
  const sample = draw();
  expect(sample.row.every((row) => row % 2 === 0)).toBe(true);
  for (const [model, { label }] of outcomes.models.entries())
    expect(sample.label[model]).toEqual(Float64Array.from(sample.row, (row) => label[row] ?? Number.NaN));
  for (const kept of ["outputTokens", "givenTokens", "firstRequest", "program"] as const) expect(sample[kept]).toEqual(plain[kept]);
});

test("a run is as good as its last answer, whichever models gave those before it", () => {
  const sample = draw();
  for (let program = 0; program < 20; program += 1) {
    const last = (sample.firstRequest[program + 1] ?? 0) - 1;
    const byModel = new Int8Array(sample.program.length);
    byModel[last] = 1;
    expect(programQuality(sample, program, byModel)).toBe(sample.label[1]?.[last]);
  }
});

test("calls have their run's own prompt by the root of the correlation, and a run of one call always", () => {
  for (const correlation of [0, 0.5, 1]) {
    const { row, prompt, program, firstRequest } = draw(correlation);
    const isOwn = (request: number): number => (row[request] === prompt[program[request] ?? -1] ? 1 : 0);
    const ofLong = (at: number): boolean => (firstRequest[(program[at] ?? 0) + 1] ?? 0) - (firstRequest[program[at] ?? 0] ?? 0) > 1;
    const requests = Array.from(row.keys());
    expect(requests.filter((at) => !ofLong(at)).every((at) => isOwn(at) === 1)).toBe(true);
    // Another prompt of 50 is the same one by chance.
    const share = Math.sqrt(correlation);
    expect(mean(requests.filter(ofLong).map(isOwn))).toBeCloseTo(share + (1 - share) / 50, 1);
  }
});

test("the seed decides, and outcomes of other models are refused", () => {
  expect(draw()).toEqual(draw());
  expect(draw(0.5, 2).row).not.toEqual(draw().row);
  const other = { ...outcomes, models: outcomes.models.slice(1) };
  expect(() => withOutcomes(plain, { outcomes: other, prompts, correlation: 0.5, seed: 1 })).toThrow("Outcomes are of large, and");
});

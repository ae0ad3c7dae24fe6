import { expect, test } from "vitest";
import { type AgentRun, measuredPrograms } from "./measuredPrograms";
import { oraclePredictions } from "./oraclePredictions";
import { programQuality } from "./programQuality";

const call = (agent: string, phase: string, promptTokens: number, completionTokens: number) => ({
  agent,
  phase,
  promptTokens,
  completionTokens,
});
const runs: readonly AgentRun[] = [
  { id: "a", calls: [call("", "", 50, 5), call("Programmer", "Coding", 300, 200), call("Reviewer", "Comment", 150, 40)] },
  { id: "b", calls: [call("Programmer", "Coding", 400, 90)] },
];
const draw = (programs: number, seed = 1) =>
  measuredPrograms({ runs, models: ["small", "large"], arrivalSeconds: Float64Array.from({ length: programs }, (_, at) => at / 2), seed });

test("programs call what a run called, in sequence, as long as recorded for every model", () => {
  const sample = draw(2);
  const a = sample.prompt.indexOf(0);
  const first = sample.firstRequest[a] ?? -1;
  expect(sample.workflows[sample.workflow[a] ?? -1]?.stages.map(({ role, reads }) => [role, reads])).toEqual([
    ["unnamed", []],
    ["Programmer: Coding", [0]],
    ["Reviewer: Comment", [1]],
  ]);
  for (const tokens of sample.outputTokens) expect([...tokens.subarray(first, first + 3)]).toEqual([5, 200, 40]);
  // With the answer before it, the input is the recorded prompt; the third prompt is shorter than that answer.
  expect([...sample.givenTokens.subarray(first, first + 3)]).toEqual([50, 295, 0]);
});

test("every lap takes every run once, fewer programs are the beginning of more, and the seed decides the order", () => {
  const sample = draw(41);
  for (let lap = 0; lap < 20; lap += 1) expect([...sample.prompt.subarray(2 * lap, 2 * lap + 2)].sort()).toEqual([0, 1]);
  expect(draw(40).prompt).toEqual(sample.prompt.subarray(0, 40));
  expect(draw(41)).toEqual(sample);
  expect(draw(41, 2).prompt).not.toEqual(sample.prompt);
  expect(sample.firstRequest[41]).toBe(sample.program.length);
});

test("nothing is known of quality, and lengths still are", () => {
  const sample = draw(2);
  expect(programQuality(sample, 0, new Int8Array(sample.program.length))).toBeNaN();
  const a = sample.firstRequest[sample.prompt.indexOf(0)] ?? -1;
  expect(oraclePredictions(sample).confidence(a, 0)).toBeUndefined();
  expect(oraclePredictions(sample).remainingTokens(a, 1)).toBe(245);
});

test("no runs are refused", () => {
  expect(() => measuredPrograms({ runs: [], models: ["small"], arrivalSeconds: new Float64Array(1), seed: 1 })).toThrow("1 to 65536");
});

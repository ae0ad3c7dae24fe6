import { expect, test } from "vitest";
import { drawPrograms } from "./drawPrograms";
import { oraclePredictions } from "./oraclePredictions";
import { programQuality } from "./programQuality";
import { workflows } from "./templates";
import { testOutcomes } from "./testing/testOutcomes";
import type { Workflow } from "./workflow";

const sample = drawPrograms({
  outcomes: testOutcomes(100),
  prompts: Int32Array.from({ length: 100 }, (_, at) => at),
  mix: workflows.map((workflow) => ({ workflow, share: 1 })),
  correlation: 0.5,
  arrivalSeconds: Float64Array.from({ length: 400 }, (_, at) => at),
  seed: 9,
});

/** Whether a stage of a program comes after another: reads it, or one that does. */
const comesAfter = ({ stages }: Pick<Workflow, "stages">, later: number, stage: number): boolean =>
  stages[later]?.reads.some((read) => read === stage || comesAfter({ stages }, read, stage)) ?? false;

test("the oracle's lengths are what a request writes, and with it all that comes after it in its program, each once", () => {
  const { requestTokens, remainingTokens } = oraclePredictions(sample);
  for (const model of sample.models.keys()) {
    const tokens = sample.outputTokens[model] ?? new Int32Array();
    for (const [request, program] of sample.program.entries()) {
      const [first = 0, end = 0] = sample.firstRequest.subarray(program, program + 2);
      const workflow = sample.workflows[sample.workflow[program] ?? -1] ?? { stages: [] };
      let sum = tokens[request] ?? 0;
      for (let at = first; at < end; at += 1) if (comesAfter(workflow, at - first, request - first)) sum += tokens[at] ?? 0;
      expect(requestTokens(request, model)).toBe(tokens[request]);
      expect(remainingTokens(request, model)).toBe(sum);
    }
  }
});

test("of votes that begin together each has its own answer and the vote's to write, not the others'", () => {
  const at = sample.workflow.findIndex((workflow) => sample.workflows[workflow]?.name === "voting");
  const first = sample.firstRequest[at] ?? 0;
  const tokens = Array.from(sample.outputTokens[0]?.subarray(first, first + 5) ?? []);
  const { remainingTokens } = oraclePredictions(sample);
  expect(tokens.map((_, stage) => remainingTokens(first + stage, 0))).toEqual(
    tokens.map((own, stage) => own + (stage < 4 ? (tokens[4] ?? 0) : 0)),
  );
});

test("the oracle's confidence is the quality of the whole program on that model, and nothing where that is unknown", () => {
  const { confidence } = oraclePredictions(sample);
  for (const model of sample.models.keys()) {
    const models = new Int8Array(sample.program.length).fill(model);
    for (const [request, program] of sample.program.entries()) {
      expect(confidence(request, model)).toBe(programQuality(sample, program, models) / 100);
    }
  }
  const unknown = oraclePredictions({ ...sample, label: sample.label.map((labels) => labels.map(() => Number.NaN)) });
  expect(unknown.confidence(0, 0)).toBeUndefined();
  expect(oraclePredictions(sample).requestTokens(0, 7)).toBeUndefined();
});

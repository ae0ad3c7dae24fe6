import { expect, test } from "vitest";
import type { OutcomeTable } from "@/solver/workload/workload";
import { modelledSample } from "./modelledSample";

const labels = Array.from({ length: 300 }, (_, at) => (at % 3 === 0 ? 100 : at % 3 === 1 ? 50 : 49.9));
const column = (model: string) => ({
  model,
  tableName: model,
  outputTokens: Int32Array.from(labels, (_, at) => at),
  label: Float64Array.from(labels),
  judged: Float64Array.from(labels),
});
const table: OutcomeTable = {
  promptIds: labels.map((_, at) => `p${at}`),
  categories: labels.map((_, at) => `kind ${at % 2}`),
  inputTokens: new Int32Array(300),
  models: [column("small"), column("large")],
};

test("right models give a question's right letter, wrong ones any other, and the same seed the same letters", () => {
  const sample = modelledSample(table, 7);
  const [small, large] = sample.models;
  expect(modelledSample(table, 7)).toEqual(sample);
  expect(modelledSample(table, 8)).not.toEqual(sample);
  expect([...(small?.correct ?? [])]).toEqual(labels.map((label) => (label >= 50 ? 1 : 0)));
  const places = labels.map((_, at) => at);
  const [right, wrong] = [places.filter((at) => at % 3 !== 2), places.filter((at) => at % 3 === 2)];
  expect(right.every((at) => small?.answers[at] === large?.answers[at])).toBe(true);
  expect(new Set(right.map((at) => small?.answers[at]))).toEqual(new Set(["A", "B", "C", "D"]));
  // Three wrong letters each: of a hundred questions two wrong models agree on about a third.
  const agreeing = wrong.filter((at) => small?.answers[at] === large?.answers[at]).length;
  expect(agreeing).toBeGreaterThan(15);
  expect(agreeing).toBeLessThan(55);
});

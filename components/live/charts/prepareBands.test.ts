import { expect, it } from "vitest";
import type { Predictions } from "@/solver/plan/plan";
import { prepareBands, prepareMarks } from "./prepareBands";

const predictions = (p95Seconds: number) => ({ p95Seconds }) as Predictions;
const line = ({ p95Seconds }: Predictions) => [{ low: p95Seconds, high: p95Seconds, value: p95Seconds }];
const window = { fromMs: 0, toMs: 100 };

it("draws each plan's promise over the time it was in force, and that of the last up to the end", () => {
  const spans = [
    { planId: "a", fromMs: 10, toMs: 40, predictions: predictions(5) },
    { planId: "b", fromMs: 40, toMs: null, predictions: predictions(7) },
  ];
  expect(prepareBands(spans, window, line)).toEqual([
    { low: 5, high: 5, value: 5, fromMs: 10, toMs: 40 },
    { low: 7, high: 7, value: 7, fromMs: 40, toMs: 100 },
  ]);
});

it("promises nothing over the time of a plan that is not kept, and still marks where it began", () => {
  const spans = [{ planId: "0123456789abcdef", fromMs: 10, toMs: null, predictions: null }];
  expect(prepareBands(spans, window, line)).toEqual([]);
  expect(prepareMarks(spans)).toEqual([{ atMs: 10, text: "plan 01234567" }]);
});

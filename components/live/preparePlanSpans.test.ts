import { expect, it } from "vitest";
import { preparePlanSpans } from "./preparePlanSpans";
import { testFrame } from "./testFrame";

const frame = (second: number, planId: string | null) => testFrame({ atMs: second * 1000, planId });

it("begins a plan's span with the first frame that names it and ends it with the last", () => {
  const frames = [frame(1, null), frame(2, "a"), frame(3, "a"), frame(4, "b"), frame(5, "b")];
  expect(preparePlanSpans(frames, 60)).toEqual([
    { planId: "a", fromMs: 2000, toMs: 3000 },
    { planId: "b", fromMs: 4000, toMs: 5000 },
  ]);
});

it("gives a plan that came back a span of its own", () => {
  expect(preparePlanSpans([frame(1, "a"), frame(2, "b"), frame(3, "a")], 60).map((span) => span.planId)).toEqual(["a", "b", "a"]);
});

it("bridges frames in which the gateway was silent only within one plan", () => {
  const frames = [frame(1, "a"), frame(2, null), frame(3, "a"), frame(4, null), frame(5, "b")];
  expect(preparePlanSpans(frames, 60)).toEqual([
    { planId: "a", fromMs: 1000, toMs: 3000 },
    { planId: "b", fromMs: 5000, toMs: 5000 },
  ]);
});

it("leaves out what lies before the chart's range, and a cluster without a plan", () => {
  expect(preparePlanSpans([frame(1, "a"), frame(50, "b"), frame(60, "b")], 20)).toEqual([{ planId: "b", fromMs: 50_000, toMs: 60_000 }]);
  expect(preparePlanSpans([frame(1, null)], 60)).toEqual([]);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type CauseQuestion, causeOf } from "./driftCause";

const question: CauseQuestion = {
  name: "p95 end to end",
  promised: 6.1,
  measured: 9.8,
  limit: 7,
  within: "5.2 s to 7.0 s",
  moved: [],
  alone: [],
  together: null,
  known: [],
  besides: [],
  text: (value) => `${value.toFixed(1)} s`,
};
const rate = (predicted: number | null) => ({ inputs: "the rate", predicted });
const lengths = (predicted: number | null) => ({ inputs: "the lengths", predicted });

test("one input whose prediction comes near what is measured explains it", () => {
  const { says, explained, replaced } = causeOf({ ...question, alone: [rate(9.4)] });
  expect(says).toBe(
    "p95 end to end is 9.8 s, promised 6.1 s (5.2 s to 7.0 s). With the rate as measured the plan predicts 9.4 s: it explains it.",
  );
  expect(explained).toBe(true);
  expect(replaced[0]?.explains).toBeCloseTo(0.89, 2);
});

test("inputs are told in the order of how much each explains, then all of them, and those that explain little are left out", () => {
  const all = { inputs: "all that moved", predicted: 9.6 };
  const { says, replaced } = causeOf({ ...question, alone: [lengths(7), rate(8.2)], together: all });
  expect(replaced.map(({ inputs }) => inputs)).toEqual(["the rate", "the lengths", "all that moved"]);
  expect(says).toContain(
    "predicts 8.2 s: it explains most of it. With the lengths as measured the plan predicts 7.0 s: they explain a part",
  );
  expect(says).toContain("With all that moved as measured the plan predicts 9.6 s: they explain it.");
  expect(causeOf({ ...question, alone: [lengths(6), rate(9.7)], together: all }).says).not.toContain("lengths");
});

test("a plan that does not keep up under what is measured is explained by that", () => {
  expect(causeOf({ ...question, alone: [lengths(6.5), rate(null)] })).toMatchObject({
    explained: true,
    says: expect.stringContaining("With the rate as measured the plan does not keep up: it explains it."),
  });
});

test("what the inputs leave is put down to what else was measured, and where that is nothing it is called unexplained", () => {
  const slow = "The engines of a are slower than calibrated.";
  expect(causeOf({ ...question, besides: [slow] }).says).toMatch(/No input that is watched has moved\. The engines of a are slower/);
  expect(causeOf({ ...question, alone: [rate(6.3)], besides: [slow] }).says).toContain(`it does not explain it. ${slow}`);
  expect(causeOf({ ...question, alone: [rate(7.5)] }).says).toContain("a part of it. The rest is unexplained");
  expect(causeOf({ ...question, alone: [rate(6.3)] }).says).toContain("does not explain it. It is unexplained");
  expect(causeOf({ ...question, alone: [rate(9.5)], besides: [slow] }).says).not.toContain("slower");
});

test("engines that are gone are told also where an input explains it", () => {
  const gone = "Of the engines of a that serve there are 3 of 4.";
  expect(causeOf({ ...question, alone: [rate(9.4)], known: [gone] })).toMatchObject({
    explained: true,
    says: expect.stringContaining(`it explains it. ${gone}`),
  });
  expect(causeOf({ ...question, known: [gone] }).says).not.toContain("unexplained");
});

test("an input that explains it by itself is told with what all that moved predict, where these do not", () => {
  const { says, explained } = causeOf({
    ...question,
    alone: [rate(9.4), lengths(4)],
    together: { inputs: "all that moved", predicted: 5 },
  });
  expect(explained).toBe(false);
  expect(says).toContain("With the rate as measured the plan predicts 9.4 s: by itself it would explain it.");
  expect(says).toMatch(/With all that moved as measured the plan predicts 5\.0 s: they do not explain it\. It is unexplained/);
  expect(says).not.toContain("it explains it");
});

test("a plan that does not keep up explains no figure little beyond the band: more is predicted than is measured, and slow engines are told", () => {
  const slow = "The engines of a are slower than calibrated.";
  const near = { ...question, measured: 7.2, alone: [rate(null)] };
  expect(causeOf({ ...near, besides: [slow] })).toMatchObject({
    explained: false,
    says: expect.stringContaining(`the plan does not keep up: more is predicted than is measured. ${slow}`),
  });
  expect(causeOf(near).says).toMatch(/more is predicted than is measured\.$/);
});

test("it works for promises that are broken downwards, and ranks the input first whose prediction comes furthest towards what is measured", () => {
  const predicted = fc.double({ min: 60, max: 90, noNaN: true });
  fc.assert(
    fc.property(predicted, predicted, (one, other) => {
      const { replaced } = causeOf({ ...question, promised: 80, measured: 70, alone: [rate(one), lengths(other)] });
      expect(replaced[0]?.predicted).toBe(Math.min(one, other));
    }),
  );
});

test("inputs that moved and were not simulated are named, not denied", () => {
  const { says } = causeOf({ ...question, moved: ["rate", "output tokens of a"] });
  expect(says).toContain("What has moved (rate, output tokens of a) could not be put in place of what was planned.");
  expect(says).not.toContain("No input that is watched has moved");
});

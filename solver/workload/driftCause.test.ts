import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type CauseQuestion, causeOf, type InputGroup, type ReplacedInputs, type ReplacedOutcome } from "./driftCause";

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
const of = (inputs: InputGroup, predicted: number | null, better = false): ReplacedInputs => ({
  inputs,
  outcome: predicted === null ? { kind: "overloaded" } : { kind: "predicted", value: predicted },
  better,
});
const rate = (predicted: number | null) => of("rate", predicted);
const lengths = (predicted: number | null) => of("lengths", predicted);

test("one input whose prediction comes near what is measured explains it", () => {
  const { says, explained, replaced } = causeOf({ ...question, alone: [rate(9.4)] });
  expect(says).toBe(
    "p95 end to end is 9.8 s, promised 6.1 s (5.2 s to 7.0 s). With the rate as measured the plan predicts 9.4 s: it explains it.",
  );
  expect(explained).toBe(true);
  expect(replaced[0]?.explains).toBeCloseTo(0.89, 2);
});

test("inputs are told in the order of how much each explains, then all of them, and those that explain little are left out", () => {
  const all = of("all", 9.6);
  const { says, replaced } = causeOf({ ...question, alone: [lengths(7), rate(8.2)], together: all });
  expect(replaced.map(({ inputs }) => inputs)).toEqual(["rate", "lengths", "all"]);
  expect(says).toContain(
    "predicts 8.2 s: it explains most of it. With the lengths as measured the plan predicts 7.0 s: they explain a part",
  );
  expect(says).toContain("With all that moved as measured the plan predicts 9.6 s: they explain it.");
  expect(causeOf({ ...question, alone: [lengths(6), rate(9.7)], together: all }).says).not.toContain("lengths");
});

test("a plan that does not keep up under what is measured is explained by that", () => {
  expect(causeOf({ ...question, alone: [lengths(6.5), rate(null)] })).toMatchObject({
    explained: true,
    says: expect.stringContaining("With the rate as measured the plan is overloaded: it explains it."),
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
    together: of("all", 5),
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
    says: expect.stringContaining(`the plan is overloaded: more is predicted than is measured. ${slow}`),
  });
  expect(causeOf(near).says).toMatch(/more is predicted than is measured\.$/);
});

test("it works for promises that are broken downwards, and ranks the input first whose prediction comes furthest towards what is measured", () => {
  const predicted = fc.double({ min: 60, max: 90, noNaN: true });
  fc.assert(
    fc.property(predicted, predicted, (one, other) => {
      const { replaced } = causeOf({ ...question, promised: 80, measured: 70, alone: [rate(one), lengths(other)] });
      expect(replaced[0]?.outcome).toEqual({ kind: "predicted", value: Math.min(one, other) });
    }),
  );
});

test("inputs that moved and were not simulated are named, not denied", () => {
  const { says } = causeOf({ ...question, moved: ["rate", "output tokens of a"] });
  expect(says).toContain("Of what has moved (rate, output tokens of a) nothing can be put in place of what was planned.");
  expect(says).not.toContain("No input that is watched has moved");
});

test("a plan that cannot be simulated as it runs explains nothing, and is never said not to keep up", () => {
  const because = "This cannot be kept: a only as tp 1 (without it the rest can be kept).";
  const stuck: ReplacedInputs = { inputs: "scores", outcome: { kind: "infeasible", because }, better: false };
  const { says, explained, replaced } = causeOf({ ...question, alone: [stuck], moved: ["score of a"] });
  expect(says).toContain(
    `With the scores as measured the plan cannot be simulated as it runs, so nothing follows for the scores: ${because}`,
  );
  expect(says).toMatch(/Whether that explains it is not known/);
  expect(says).not.toMatch(/overloaded|could not be put in place|unexplained/);
  expect({ explained, verdict: replaced[0]?.verdict }).toEqual({ explained: false, verdict: "unknown" });
});

test("what is better than planned is no cause, whatever is predicted of it", () => {
  const { says, explained } = causeOf({ ...question, alone: [of("judge-time", null, true)] });
  expect(says).toContain("With the time of a judgement as measured the plan is overloaded: it is better than planned and no cause.");
  expect(explained).toBe(false);
  const withRate = causeOf({ ...question, alone: [of("judge-time", null, true), rate(9.6)], together: of("all", 9.5) });
  expect(withRate.replaced[0]?.inputs).toBe("rate");
  expect(withRate).toMatchObject({ explained: true, says: expect.not.stringContaining("judgement") });
});

const outcome: fc.Arbitrary<ReplacedOutcome> = fc.oneof(
  fc.double({ min: 0, max: 30, noNaN: true }).map((value) => ({ kind: "predicted" as const, value })),
  fc.constant({ kind: "overloaded" as const }),
  fc.constantFrom("infeasible" as const, "not-evaluated" as const).map((kind) => ({ kind, because: "A rule keeps it." })),
);
const group = fc.record({
  inputs: fc.constantFrom<InputGroup>("rate", "lengths", "scores", "judge-time"),
  outcome,
  better: fc.boolean(),
});

test("of any inputs, one that is better than planned or that was not simulated is never named as the cause, and only an overload is worded as one", () => {
  fc.assert(
    fc.property(fc.uniqueArray(group, { selector: ({ inputs }) => inputs }), fc.option(outcome), (alone, all) => {
      const together: ReplacedInputs | null =
        all === null || alone.length < 2 ? null : { inputs: "all", outcome: all, better: alone.every(({ better }) => better) };
      const { replaced, explained, says } = causeOf({ ...question, alone, together, moved: ["rate"] });
      for (const { better, outcome: came, verdict } of replaced) {
        if (better) expect(verdict).toBe("better-than-planned");
        else if (came.kind === "infeasible" || came.kind === "not-evaluated") expect(verdict).toBe("unknown");
      }
      const couldCause = [...alone, ...(together === null ? [] : [together])].filter(
        ({ better, outcome: came }) => !better && (came.kind === "predicted" || came.kind === "overloaded"),
      );
      if (explained) expect(couldCause.length).toBeGreaterThan(0);
      const isOverloaded = replaced.some(({ outcome: came }) => came.kind === "overloaded");
      if (!isOverloaded) expect(says).not.toContain("overloaded");
      expect(says).not.toMatch(/NaN|undefined|\.\./);
    }),
  );
});

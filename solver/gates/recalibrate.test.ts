import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { calibratedScore } from "./calibratedScore";
import { type Calibration, calibrationSchema } from "./gateDocument";
import { type Recalibration, recalibrate } from "./recalibrate";

const anyAnswer = fc.record({ score: fc.double({ min: 0, max: 100, noNaN: true }), label: fc.integer({ min: 0, max: 100 }) });
const anyAnswers = fc.array(anyAnswer, { maxLength: 200 });
const anyCalibration: fc.Arbitrary<Calibration | undefined> = fc.option(
  fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })), { minLength: 2, maxLength: 40 }).chain((pairs) => {
    const raw = [...new Set(pairs.map(([at]) => at))].sort((a, b) => a - b);
    const calibrated = pairs
      .slice(0, raw.length)
      .map(([, value]) => value)
      .sort((a, b) => a - b);
    return raw.length < 2 ? fc.constant({ raw: [0, 100], calibrated: [0, 100] }) : fc.constant({ raw, calibrated });
  }),
  { nil: undefined },
);

type Fitted = Extract<Recalibration, { kind: "fitted" }>;

function fitted(...given: Parameters<typeof recalibrate>): Fitted {
  const made = recalibrate(...given);
  if (made.kind === "too-few") throw new Error(`${made.labels} labels were too few`);
  return made;
}

/** Answers with raw scores of `from` to 100 that are right with the probability of their score's square. */
function served(count: number, from: number, seed: number) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const score = from + (100 - from) * random.next();
    return { score, label: random.next() < (score / 100) ** 2 ? 100 : 0 };
  });
}

describe("recalibrate", () => {
  it("needs 40 labels, five of good answers and five of bad ones, and fits from there on", () => {
    fc.assert(
      fc.property(anyAnswers, anyCalibration, (answers, inForce) => {
        const made = recalibrate(answers, inForce);
        const good = answers.filter(({ label }) => label >= 50).length;
        expect(made).toMatchObject({ labels: answers.length, good, bad: answers.length - good });
        expect(made.kind).toBe(answers.length >= 40 && good >= 5 && answers.length - good >= 5 ? "fitted" : "too-few");
      }),
    );
  });

  it("writes what a gate's document accepts, and measures both calibrations on every label", () => {
    fc.assert(
      fc.property(fc.array(anyAnswer, { minLength: 60, maxLength: 200 }), anyCalibration, (answers, inForce) => {
        const made = recalibrate(answers, inForce);
        fc.pre(made.kind === "fitted");
        if (made.kind !== "fitted") return;
        expect(calibrationSchema.parse(made.calibration)).toEqual(made.calibration);
        for (const { error, bins } of [made.before, made.after]) {
          expect(bins.reduce((sum, bin) => sum + bin.answers, 0)).toBe(answers.length);
          expect(error >= 0 && error <= 100).toBe(true);
        }
        expect(made.gain.low <= made.gain.value && made.gain.value <= made.gain.high).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("gives the same whatever the order of the labels", () => {
    const answers = served(200, 0, 3);
    const [one, other] = [fitted(answers, undefined), fitted(answers.toReversed(), undefined)];
    expect(other.before).toEqual(one.before);
    for (const score of [0, 20, 40, 60, 80, 100])
      expect(calibratedScore(score, other.calibration)).toBeCloseTo(calibratedScore(score, one.calibration), 6);
  });

  it("brings overconfident scores to the quality of their answers, surely", () => {
    const { calibration, before, after, gain } = fitted(served(600, 0, 7), undefined);
    expect(before.error).toBeGreaterThan(10);
    expect(after.error).toBeLessThan(before.error / 2);
    expect(gain.low).toBeGreaterThan(0);
    for (const score of [30, 50, 70, 90]) expect(Math.abs(calibratedScore(score, calibration) - score ** 2 / 100)).toBeLessThan(12);
  });

  it("keeps the calibration in force where no answer is labelled, as far as scores do not fall then", () => {
    const anyValue = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(anyAnswer, { minLength: 60, maxLength: 200 }),
        fc.array(anyValue, { minLength: 201, maxLength: 201 }),
        (answers, values) => {
          const ranged = answers.map(({ score, label }) => ({ score: 30 + 0.4 * score, label }));
          const [lowest, highest] = [Math.min, Math.max].map((end) => end(...ranged.map(({ score }) => score))) as [number, number];
          const inForce = { raw: values.map((_, at) => at / 2), calibrated: values.toSorted((a, b) => a - b) };
          const made = recalibrate(ranged, inForce);
          fc.pre(made.kind === "fitted");
          if (made.kind !== "fitted") return;
          const { calibration } = made;
          expect(calibrationSchema.parse(calibration)).toEqual(calibration);
          const [first, last] = [lowest, highest].map((raw) => calibratedScore(raw, calibration)) as [number, number];
          const outside = calibration.raw.filter((raw) => raw < lowest || raw > highest);
          for (const raw of [0, 100, lowest - 1e-4, highest + 1e-4]) expect(outside).toContain(raw);
          for (const raw of outside) {
            const known = calibratedScore(raw, inForce);
            expect(calibratedScore(raw, calibration)).toBeCloseTo(raw < lowest ? Math.min(known, first) : Math.max(known, last), 6);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("accepts no answer below all labelled scores that the calibration in force refuses", () => {
    const good = served(300, 60, 11).map((answer, at) => ({ ...answer, label: at % 20 === 0 ? 0 : 100 }));
    const { calibration } = fitted(good, undefined);
    expect(calibratedScore(65, calibration)).toBeGreaterThan(90);
    for (const raw of [0, 20, 40, 59]) expect(calibratedScore(raw, calibration)).toBeCloseTo(raw, 1);
  });

  it("shows no gain where the calibration in force is right", () => {
    const right = {
      raw: Array.from({ length: 21 }, (_, at) => 5 * at),
      calibrated: Array.from({ length: 21 }, (_, at) => (5 * at) ** 2 / 100),
    };
    const { gain, calibration } = fitted(served(400, 0, 5), right);
    expect(gain.low).toBeLessThan(0);
    for (const score of [20, 50, 80]) expect(Math.abs(calibratedScore(score, calibration) - score ** 2 / 100)).toBeLessThan(12);
  });

  it("measures the new calibration on labels that it was not fitted to", () => {
    const constant = { raw: [0, 100], calibrated: [50, 50] };
    const gains = Array.from({ length: 40 }, (_, seed) => {
      const random = seededRandom(seed);
      const noise = Array.from({ length: 60 }, () => ({ score: 100 * random.next(), label: random.next() < 0.5 ? 100 : 0 }));
      return fitted(noise, constant).gain.value;
    });
    expect(gains.reduce((sum, gain) => sum + gain, 0)).toBeLessThan(0);
  });
});

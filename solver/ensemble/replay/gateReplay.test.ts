import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { AGGREGATE_ALL } from "../gate/ensembleDocument";
import type { AnswerSample } from "./answerSample";
import { chooseTau, heldOutChoice } from "./chooseTau";
import { gatePoints, type ReplayedQuestion } from "./gatePoints";
import { type ReplayedGate, type ReplayRequest, replayGate } from "./gateReplay";
import { replayedQuestions } from "./replayedQuestions";

interface Drawn {
  readonly questions: number;
  /** Probability of a right answer by model, by category where there are several. */
  readonly accuracy: Readonly<Record<string, readonly number[]>>;
  readonly seed?: number;
}

/** Models that are right independently at random; wrong ones give one of three other letters. */
function drawnSample({ questions, accuracy, seed = 1 }: Drawn): AnswerSample {
  const places = Array.from({ length: questions }, (_, at) => at);
  const kinds = Object.values(accuracy)[0]?.length ?? 1;
  return {
    questionIds: places.map((at) => `q${at}`),
    ...(kinds > 1 && { categories: places.map((at) => `kind ${at % kinds}`) }),
    models: Object.entries(accuracy).map(([model, chances]) => {
      const random = seededRandom(mixSeed(seed, model));
      const right = places.map((at) => random.next() < (chances[at % kinds] ?? 0));
      return {
        model,
        answers: right.map((is) => (is ? "A" : (["B", "C", "D"][random.int(3)] ?? null))),
        correct: Uint8Array.from(right, Number),
        outputTokens: Int32Array.from(right, (is) => (is ? 50 : 150) + random.int(20)),
        asked: new Uint8Array(questions).fill(1),
      };
    }),
  };
}

const request: ReplayRequest = {
  experts: ["a", "b", "c"],
  expertsPerQuestion: 3,
  aggregator: "big",
  confidence: "plurality",
  allowedPoints: 1,
};
const threeAndOne = { a: [0.8], b: [0.7], c: [0.75], big: [0.9] };

function replayed(sample: AnswerSample, changes: Partial<ReplayRequest> = {}): ReplayedGate {
  const report = replayGate(sample, { ...request, ...changes });
  if (typeof report === "string") throw new Error(report);
  return report;
}

/** Four questions for which everything can be counted by hand. */
const small: AnswerSample = {
  questionIds: ["unanimous", "two of three", "split", "silent"],
  models: [
    { model: "a", answers: ["x", "x", "x", null], correct: Uint8Array.of(1, 0, 0, 0) },
    { model: "b", answers: ["x", "x", "y", null], correct: Uint8Array.of(1, 0, 1, 0) },
    { model: "c", answers: ["x", "y", "z", null], correct: Uint8Array.of(1, 1, 0, 0) },
    { model: "big", answers: ["w", "y", "y", "x"], correct: Uint8Array.of(0, 1, 1, 1) },
  ].map((model) => ({ ...model, outputTokens: Int32Array.of(10, 20, 30, 40), asked: Uint8Array.of(1, 1, 1, 1) })),
};

describe("four questions counted by hand", () => {
  const { buckets, points, alwaysAggregated, experts, questions } = replayed(small);

  test("buckets go from most agreement to none, with who is right in each", () => {
    expect(
      buckets.map(({ votes, questions: count, leading, aggregator, expertTokens }) => [
        votes,
        count,
        leading?.value,
        aggregator?.value,
        expertTokens,
      ]),
    ).toEqual([
      ["3:0", 1, 1, 0, 30],
      // The aggregator alone is right: it follows the two that agree.
      ["2:1", 1, 0, 0, 60],
      ["1:1:1", 1, 0, 1, 90],
      ["no votes", 1, undefined, 1, 120],
    ]);
  });

  test("points tell what is skipped, what is right and what the aggregator still reads; nobody's vote is never skipped", () => {
    expect(
      points.map(({ tau, skipped, accuracy, difference, aggregatorTokens }) => [
        tau,
        skipped.value,
        accuracy.value,
        difference?.value,
        aggregatorTokens,
      ]),
    ).toEqual([
      [1 / 3, 0.75, 0.5, 0, 120 / 300],
      [2 / 3, 0.5, 0.75, 0.25, 210 / 300],
      [1, 0.25, 0.75, 0.25, 270 / 300],
      [AGGREGATE_ALL, 0, 0.5, 0, 1],
    ]);
    expect([alwaysAggregated?.value, questions]).toEqual([0.5, 4]);
  });

  test("experts have their own figures", () => {
    expect(experts.map(({ model, accuracy, voted, meanTokens, asked }) => [model, accuracy.value, voted, meanTokens, asked])).toEqual([
      ["a", 0.25, 0.75, 25, 4],
      ["b", 0.5, 0.75, 25, 4],
      ["c", 0.5, 0.75, 25, 4],
    ]);
  });

  test("without an aggregator accuracy is that of what is skipped, and nothing is chosen", () => {
    const alone = replayed(small, { aggregator: null });
    expect(alone.points.map(({ tau, skipped, accuracy, difference }) => [tau, skipped.value, accuracy.value, difference])).toEqual([
      [1 / 3, 0.75, 1 / 3, null],
      [2 / 3, 0.5, 0.5, null],
      [1, 0.25, 1, null],
    ]);
    expect([alone.chosenTau, alone.alwaysAggregated]).toEqual([null, null]);
  });
});

test("what cannot be replayed is refused in a sentence", () => {
  expect(replayGate(small, { ...request, experts: ["a", "d"], expertsPerQuestion: 2 })).toBe(
    "The sample has no answers of d: it has those of a, b, c, big.",
  );
  expect(replayGate(small, { ...request, experts: ["a", "a"], expertsPerQuestion: 2 })).toMatch(/named twice/);
  expect(replayGate(small, { ...request, expertsPerQuestion: 4 })).toMatch(/^4 experts are to answer a question, and there are 3/);
  expect(replayGate({ questionIds: [], models: small.models }, request)).toMatch(/^No question/);
});

test("a question that an expert or the aggregator was not asked is left out, and said to be", () => {
  const models = small.models.map((model) => (model.model === "big" ? { ...model, asked: Uint8Array.of(0, 1, 1, 1) } : model));
  const report = replayed({ ...small, models });
  expect([report.questions, report.buckets[0]?.votes]).toEqual([3, "2:1"]);
  expect(report.notes.join(" ")).toMatch(/1 of 4 questions are left out/);
});

test("experts are recruited by what they knew of other questions of a category", () => {
  const accuracy = { a: [0.95, 0.3], b: [0.95, 0.3], c: [0.3, 0.95], d: [0.3, 0.95], big: [0.9, 0.9] };
  const sample = drawnSample({ questions: 400, accuracy });
  const report = replayed(sample, { experts: ["a", "b", "c", "d"], expertsPerQuestion: 2 });
  expect(report.experts.map(({ asked }) => asked)).toEqual([200, 200, 200, 200]);
  expect(report.notes.join(" ")).toMatch(/which experts are recruited is learnt on the other/);
});

test("no answer tells of itself: its own correctness changes nothing of how its question is gated", () => {
  fc.assert(
    fc.property(fc.constantFrom("accuracy-weighted" as const, "length-aware" as const), fc.nat({ max: 59 }), (confidence, at) => {
      const sample = drawnSample({ questions: 60, accuracy: { a: [0.6, 0.8], b: [0.7, 0.5], c: [0.5, 0.6], big: [0.9, 0.9] } });
      const changed = sample.models.map((model) => ({
        ...model,
        correct: model.correct.map((right, place) => (place === at ? 1 - right : right)),
      }));
      const ensemble = { ...request, expertsPerQuestion: 2, confidence };
      const [before, after] = [sample, { ...sample, models: changed }].map((one) =>
        replayedQuestions(one, ensemble).find((question) => question.at === at),
      );
      expect([after?.asked, after?.confidence, after?.votes]).toEqual([before?.asked, before?.confidence, before?.votes]);
    }),
  );
});

test("a higher tau skips no more, and intervals hold their values", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("plurality" as const, "accuracy-weighted" as const, "length-aware" as const),
      fc.integer({ min: 1, max: 80 }),
      fc.nat(),
      (confidence, questions, seed) => {
        const { points } = replayed(drawnSample({ questions, accuracy: threeAndOne, seed }), { confidence });
        expect(points.length).toBeLessThanOrEqual(42);
        for (const [at, { tau, skipped, aggregatorTokens, difference }] of points.entries()) {
          const next = points[at + 1];
          if (next !== undefined) {
            expect(next.tau).toBeGreaterThan(tau);
            expect(next.skipped.value).toBeLessThanOrEqual(skipped.value);
            expect(next.aggregatorTokens).toBeGreaterThanOrEqual(aggregatorTokens);
          }
          for (const interval of [skipped, difference]) {
            expect(interval?.low).toBeLessThanOrEqual(interval?.value ?? 0);
            expect(interval?.high).toBeGreaterThanOrEqual(interval?.value ?? 0);
          }
        }
        expect(points.at(-1)).toMatchObject({
          tau: AGGREGATE_ALL,
          aggregatorTokens: 1,
          skipped: { value: 0 },
          difference: { value: 0 },
        });
      },
    ),
    { numRuns: 40 },
  );
});

describe("choosing tau", () => {
  test("takes the lowest one down to which no stricter one may cost more than is allowed", () => {
    const point = (tau: number, low: number) => ({
      tau,
      skipped: none,
      accuracy: none,
      aggregatorTokens: 0,
      difference: { value: 0, low, high: 1 },
    });
    const none = { value: 0, low: 0, high: 1 };
    const points = [point(0.2, 0), point(0.4, -0.02), point(0.6, -0.009), point(1, -0.001), point(AGGREGATE_ALL, 0)];
    expect([0, 0.5, 1, 2].map((allowed) => chooseTau(points, allowed))).toEqual([null, 1, 0.6, 0.2]);
  });

  test("trusts agreement of experts that are better together than the aggregator, and not of ones that are worse", () => {
    expect(replayed(drawnSample({ questions: 2000, accuracy: { a: [0.9], b: [0.9], c: [0.9], big: [0.6] } })).chosenTau).toBe(1 / 3);
    expect(replayed(drawnSample({ questions: 2000, accuracy: { a: [0.4], b: [0.4], c: [0.4], big: [0.99] } })).chosenTau).toBeNull();
  });

  /** On fresh questions of the same kind: an overfitted choice would cost more far more often. */
  test("costs more than is allowed on fresh questions in at most one of ten samples", () => {
    const accuracy = { a: [0.62], b: [0.66], c: [0.6], big: [0.75] };
    const questionsOf = (questions: number, seed: number) => replayedQuestions(drawnSample({ questions, accuracy, seed }), request);
    const fresh = gatePoints(questionsOf(40_000, 999));
    const costs = Array.from({ length: 60 }, (_, seed) => {
      const tau = chooseTau(gatePoints(questionsOf(300, seed)), 3);
      return tau === null ? 0 : -(fresh.find((point) => point.tau === tau)?.difference?.value ?? 0);
    });
    expect(costs.filter((cost) => cost > 0.03).length).toBeLessThanOrEqual(6);
  });

  test("is tried on the half that it was not chosen on", () => {
    const question = (half: number, leads: boolean, aggregates: boolean): ReplayedQuestion => ({
      confidence: 1,
      votes: "3:0",
      leads,
      aggregates,
      expertTokens: 1,
      half,
    });
    const good = Array.from({ length: 500 }, () => question(0, true, true));
    const bad = Array.from({ length: 500 }, () => question(1, false, true));
    // On the first half agreement is always right: a tau chosen there loses everything on the second, and on the second none is chosen.
    expect(heldOutChoice([...good, ...bad], 1)).toMatchObject({ taus: [1, null], skipped: { value: 0.5 }, difference: { value: -0.5 } });
  });
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../numeric/random";
import { qualityInterval } from "./contentIntervals";
import { createOutcomeCollector } from "./outcomeCollector";
import type { OutcomeRow } from "./outcomeRow";
import { type Reached, unselected } from "./unselected";

const SEEDS = 200;
const PROMPTS = 3000;
const THRESHOLD = 60;

interface World {
  readonly seed: number;
  readonly prompts?: number;
  /** Share of the requests that is sent through all models, whatever their score. */
  readonly mirrored: number;
}

const logistic = (value: number): number => 1 / (1 + Math.exp(-value));
/** Difficulties are standard normal; the probability that a model with some skill is right on one. */
const rightOf = (skill: number, difficulty: number): number => logistic(skill - 1.6 * difficulty);
const SKILL = { small: 0.1, large: 4.2 } as const;

/** Accuracy of the larger model if all requests were sent to it alone, in points. */
const TRUTH = (() => {
  let [sum, weights] = [0, 0];
  for (let at = -600; at <= 600; at += 1) {
    const weight = Math.exp(-((at / 100) ** 2) / 2);
    sum += 100 * weight * rightOf(SKILL.large, at / 100);
    weights += weight;
  }
  return sum / weights;
})();

/**
 * Requests that a cascade of two models served: the larger one answers those that the judge scores below the threshold, and mirrored ones.
 */
function served({ seed, prompts = PROMPTS, mirrored }: World): OutcomeRow[] {
  const random = seededRandom(seed);
  const answers = {
    task: "t",
    metric: "correct",
    category: "c",
    inputTokens: 10,
    family: "f",
    outputTokens: 5,
    confidence: null,
    agreement: null,
  };
  return Array.from({ length: prompts }, (_, at): OutcomeRow[] => {
    const difficulty = random.normal();
    const right = (skill: number): boolean => random.next() < rightOf(skill, difficulty);
    const [small, large] = [right(SKILL.small), right(SKILL.large)];
    const score = (isRight: boolean) => Math.round(100 * logistic((isRight ? 1.3 : -1.3) - 0.5 * difficulty + random.normal()));
    const [smallScore, largeScore] = [score(small), score(large)];
    const row = (model: string, sizeRank: number, isRight: boolean, judged: number): OutcomeRow => ({
      ...answers,
      ...{ promptId: `p${at}`, model, sizeRank, label: isRight ? 100 : 0, judged },
    });
    const reaches = smallScore < THRESHOLD || random.next() < mirrored;
    return [row("llama-3.1-8b", 1, small, smallScore), ...(reaches ? [row("llama-3.1-70b", 2, large, largeScore)] : [])];
  }).flat();
}

function collected(world: World) {
  const collector = createOutcomeCollector({ family: null, tasks: [], aliases: {} });
  for (const row of served(world)) expect(collector.add(row)).toBeNull();
  return collector.finish();
}

test("the quality of a model that a cascade sends the harder requests to is covered by its interval and has no bias", () => {
  let [covered, bias] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const made = collected({ seed, mirrored: 0.05 });
    if (!made.ok) throw new Error(made.problem);
    const { value, low, high } = qualityInterval(made.value.table.models[1]?.label ?? new Float64Array())!;
    expect(high - low).toBeGreaterThan(0.1);
    if (low <= TRUTH && TRUTH <= high) covered += 1;
    bias += (value - TRUTH) / SEEDS;
  }
  expect(covered / SEEDS).toBeGreaterThanOrEqual(0.85);
  expect(Math.abs(bias)).toBeLessThan(1);
});

test("where no request with a high score reached the larger model, its quality is not told, and the scores are named", () => {
  const made = collected({ seed: 3, mirrored: 0 });
  expect(made).toMatchObject({ ok: false, problem: expect.stringMatching(/is not known from this traffic/) });
  expect(made.ok ? "" : made.problem).toMatch(/'llama-3\.1-70b' .* judged 60 to (9\d|100)/);
});

test("a random part of the prompts is taken whole: by more than chance no model's prompts are called selected", () => {
  let selected = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom(seed);
    const prompts = Array.from({ length: 400 }, (): Reached => {
      const score = Math.floor(100 * random.next());
      return { score, label: random.next() < score / 100 ? 100 : 0, reached: random.next() < 0.9 };
    });
    if (unselected(prompts).kind !== "unselected") selected += 1;
  }
  expect(selected).toBeLessThanOrEqual(3);
});

test("prompts that are kept are reached ones, each once, and hold every range of scores as often as all prompts do", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 20, max: 80 }),
      fc.double({ min: 0.05, max: 0.5, noNaN: true }),
      (seed, threshold, mirrored) => {
        const random = seededRandom(seed);
        const prompts = Array.from({ length: 2000 }, (): Reached => {
          const score = Math.floor(100 * random.next());
          return { score, label: score, reached: score < threshold || random.next() < mirrored };
        });
        const selection = unselected(prompts);
        if (selection.kind !== "thinned") throw new Error(selection.kind);
        const { kept } = selection;
        expect(new Set(kept).size).toBe(kept.length);
        expect(kept.every((place) => prompts[place]?.reached)).toBe(true);
        const below = (places: readonly number[]): number =>
          places.filter((place) => (prompts[place]?.score ?? 0) < threshold).length / places.length;
        const sampling = 4 * Math.sqrt(0.25 / kept.length) + 0.05;
        expect(Math.abs(below(kept) - below([...prompts.keys()]))).toBeLessThan(sampling);
      },
    ),
    { numRuns: 30 },
  );
});

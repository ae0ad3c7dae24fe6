import fc from "fast-check";
import { expect, it } from "vitest";
import { gpuCards } from "../hardware/gpus";
import { modelCards } from "../hardware/models";
import { replicaModel } from "../hardware/replicaShapes";
import { seededRandom } from "../numeric/random";
import { aggregatorPoints, secondsAtShare } from "./aggregatorStage";

const fit = replicaModel(modelCards["qwen2.5-72b"]!, gpuCards["a100-sxm-80g"]!, { tp: 4, pp: 1 });
if (!fit.fits) throw new Error(fit.reason);
const stage = { replica: fit.replica, copies: 1, questions: 800, concurrency: null };

/** Questions of which the less confident have longer answers, as in the source. */
function sampled(longerByDoubt: number) {
  const random = seededRandom(4);
  const confidence = Float64Array.from({ length: 400 }, () => [1 / 3, 2 / 3, 1][random.int(3)]!);
  const tokens = (mean: number) => Int32Array.from(confidence, (one) => mean * (1 + longerByDoubt * (1 - one)) * random.lognormal(0, 0.3));
  return { questionTokens: new Int32Array(400).fill(150), answerTokens: tokens(3000), outputTokens: tokens(800), confidence };
}

it("takes no time for no questions, and never less for more of them", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 3 }), (questions, copies) => {
      const points = aggregatorPoints(sampled(2), { ...stage, questions, copies });
      expect(points[0]).toEqual({ share: 0, seconds: 0 });
      expect(points.at(-1)!.share).toBe(1);
      expect(points.map(({ seconds }) => seconds)).toEqual(points.map(({ seconds }) => seconds).toSorted((a, b) => a - b));
      for (const { share, seconds } of points) expect(secondsAtShare(points, share)).toBe(seconds);
    }),
    { numRuns: 8 },
  );
});

it("saves less than what is skipped, and less still where questions that split experts carry the longest answers", () => {
  const speedUp = (longer: number, confident: boolean): number => {
    const { confidence, ...tokens } = sampled(longer);
    const points = aggregatorPoints({ ...tokens, confidence: confident ? confidence : null }, stage);
    return secondsAtShare(points, 1) / secondsAtShare(points, 0.15);
  };
  expect(speedUp(3, true)).toBeLessThan(0.8 * speedUp(3, false));
  expect(speedUp(3, false)).toBeLessThan(1 / 0.15);
});

it("has no point where no question has room in the cache", () => {
  const { replica } = stage;
  expect(aggregatorPoints(sampled(0), { ...stage, replica: { ...replica, kvTokens: 100 } })).toEqual([]);
});

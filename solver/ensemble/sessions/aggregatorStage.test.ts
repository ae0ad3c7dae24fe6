import fc from "fast-check";
import { expect, it } from "vitest";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import { aggregatorPoints, quickestPool, secondsAtShare } from "./aggregatorStage";
import { estimatedLoadSeconds } from "./loadEstimate";
import { poolShapes } from "./workerShape";

const fit = replicaModel(modelCards["qwen2.5-72b"]!, gpuCards["a100-sxm-80g"]!, { tp: 4, pp: 1 });
if (!fit.fits) throw new Error(fit.reason);
const stage = { replica: fit.replica, copies: 1, questions: 800, concurrency: null };

/** Questions where lower confidence has longer answers, as in the source. */
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

/** Questions with short answers on so many GPUs, eight to a node. */
function quickestOn(model: string, gpu: string, { gpus, questions }: { readonly gpus: number; readonly questions: number }) {
  const nodes = Array.from({ length: Math.ceil(gpus / 8) }, (_, at) => Math.min(8, gpus - 8 * at));
  const card = modelCards[model]!;
  const pools = poolShapes(card, gpuCards[gpu]!, { nodes, profile: vllmProfile }).map((pool) => ({
    ...pool,
    loadSeconds: estimatedLoadSeconds(card, pool.shape.tp, "local-nvme").seconds,
  }));
  return quickestPool({ ...sampled(0), answerTokens: new Int32Array(400).fill(400) }, pools, { questions, concurrency: 64 });
}

const secondsOf = (quickest: ReturnType<typeof quickestOn>): number =>
  quickest === null ? Number.POSITIVE_INFINITY : quickest.pool.loadSeconds + quickest.points.at(-1)!.seconds;

it("never takes longer on more GPUs", () => {
  fc.assert(
    fc.property(
      fc.record({
        model: fc.constantFrom(...Object.keys(modelCards)),
        gpu: fc.constantFrom(...Object.keys(gpuCards)),
        ...{ gpus: fc.integer({ min: 1, max: 15 }), more: fc.integer({ min: 1, max: 8 }), questions: fc.integer({ min: 1, max: 4000 }) },
      }),
      ({ model, gpu, gpus, more, questions }) => {
        const [fewer, many] = [gpus, gpus + more].map((count) => secondsOf(quickestOn(model, gpu, { gpus: count, questions })));
        expect(many).toBeLessThanOrEqual(fewer! + 1e-9);
      },
    ),
    { numRuns: 20 },
  );
});

it("has engines side by side where one over all GPUs would be slower, and wider ones where these have too little room", () => {
  const shapeOf = (model: string, gpu: string) => quickestOn(model, gpu, { gpus: 8, questions: 3000 })!.pool;
  expect(shapeOf("qwen2.5-32b", "l40s")).toMatchObject({ shape: { tp: 2 }, copies: 4 });
  expect(shapeOf("qwen2.5-72b", "a100-sxm-80g")).toMatchObject({ shape: { tp: 4 }, copies: 2 });
});

it("has no point where no question has room in the cache", () => {
  const { replica } = stage;
  expect(aggregatorPoints(sampled(0), { ...stage, replica: { ...replica, kvTokens: 100 } })).toEqual([]);
});

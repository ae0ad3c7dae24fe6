import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { engineJudge, fixedJudge, type JudgeQueue } from "./judgeQueue";

const REQUESTS = 400;
const RUBRIC = 150;
const OUTPUT = 12;

const fit = replicaModel(modelCards["llama-3.1-8b"]!, gpuCards.l40s!, { tp: 1, pp: 1 });
if (!fit.fits) throw new Error(fit.reason);
const { replica } = fit;
const replicas = (count: number, maxInFlight: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `judge ${index}`, model: "llama-3.1-8b", replica, maxInFlight }));

/** Answers to judge, with their lengths. */
function answersAt(requestsPerSecond: number, seed: number) {
  const random = seededRandom(seed);
  let now = 0;
  return Array.from({ length: REQUESTS }, () => {
    now += random.exponential(requestsPerSecond);
    return { nowSeconds: now, inputTokens: 50 + random.int(400), outputTokens: 1 + random.int(600) };
  });
}

/** When each answer was judged. */
function judgedBy(judge: JudgeQueue, answers: ReturnType<typeof answersAt>): Float64Array {
  const judged = new Float64Array(REQUESTS).fill(Number.NaN);
  let sent = 0;
  for (;;) {
    const arrival = answers[sent]?.nowSeconds ?? Number.POSITIVE_INFINITY;
    const now = Math.min(arrival, judge.nextSeconds());
    if (now === Number.POSITIVE_INFINITY) return judged;
    judge.advanceTo(now);
    for (let request = judge.takeJudged(now); request !== null; request = judge.takeJudged(now)) judged[request] = now;
    for (let answer = answers[sent]; answer !== undefined && answer.nowSeconds <= now; answer = answers[sent]) {
      judge.judge(sent, answer);
      sent += 1;
    }
  }
}

const engines = (count: number, maxInFlight = 256) =>
  engineJudge({ replicas: replicas(count, maxInFlight), rubricTokens: RUBRIC, outputTokens: OUTPUT }, REQUESTS);

describe("a judge as engines of its own", () => {
  it("takes on one replica just what that replica takes for prompt, answer and rubric", () => {
    const answers = answersAt(20, 1);
    const judged = judgedBy(engines(1), answers);
    const alone = simulateReplica(replica, {
      arrivalSeconds: answers.map(({ nowSeconds }) => nowSeconds),
      inputTokens: Int32Array.from(answers, (answer) => answer.inputTokens + answer.outputTokens + RUBRIC),
      outputTokens: new Int32Array(REQUESTS).fill(OUTPUT),
    });
    for (const [request, { nowSeconds }] of answers.entries())
      expect(judged[request]! - nowSeconds).toBeCloseTo(alone.endToEndSeconds[request]!, 9);
  });

  it("judges every answer, whatever its replicas may hold at once, and tells the mean", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(1, 4, 256),
        fc.integer({ min: 1, max: 99 }),
        (count, maxInFlight, seed) => {
          const answers = answersAt(30, seed);
          const judge = engines(count, maxInFlight);
          const judged = judgedBy(judge, answers);
          const seconds = judged.map((at, request) => at - answers[request]!.nowSeconds);
          expect(seconds.every((own) => own > 0)).toBe(true);
          expect(judge.meanSeconds()).toBeCloseTo(mean(seconds), 9);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("answers sooner on more replicas, and first come first where one judges one at a time", () => {
    const answers = answersAt(60, 2);
    const [few, many] = [1, 4].map((count) => {
      const judge = engines(count);
      judgedBy(judge, answers);
      return judge.meanSeconds();
    });
    expect(many).toBeLessThan(few!);
    const single = judgedBy(engines(1, 1), answers);
    expect([...single]).toEqual([...single].sort((a, b) => a - b));
  });
});

describe("a judge of fixed time", () => {
  it("takes it for every answer, however many there are", () => {
    const answers = answersAt(100, 3);
    const judge = fixedJudge(0.27);
    const judged = judgedBy(judge, answers);
    for (const [request, { nowSeconds }] of answers.entries()) expect(judged[request]! - nowSeconds).toBeCloseTo(0.27, 12);
    expect(judge.meanSeconds()).toBe(0.27);
    expect(fixedJudge(0.27).meanSeconds()).toBe(0);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { planningSample, routePrompts } from "@/solver/cascade/routing/routing";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean, quantile } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import type { OutcomeTable, RequestSample } from "@/solver/workload/workload";
import { simulateCluster } from "./simulateCluster";

const LADDER = ["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"];
const PROMPTS = 200;

function tableOf(models: readonly string[]): OutcomeTable {
  const random = seededRandom(3);
  const lengths = (mu: number) => Int32Array.from({ length: PROMPTS }, () => 1 + Math.min(3000, random.lognormal(mu, 0.7)));
  return {
    promptIds: Array.from({ length: PROMPTS }, (_, prompt) => `p${prompt}`),
    categories: Array.from({ length: PROMPTS }, () => "all"),
    inputTokens: lengths(5.5),
    models: models.map((model, size) => ({
      model,
      tableName: model,
      outputTokens: lengths(5),
      label: Float64Array.from({ length: PROMPTS }, () => (random.next() < 0.6 + 0.1 * size ? 100 : 0)),
      judged: Float64Array.from({ length: PROMPTS }, () => random.int(101)),
    })),
  };
}

function sampleOf(requests: number, requestsPerSecond: number): RequestSample {
  const random = seededRandom(5);
  let now = 0;
  const arrivalSeconds = Float64Array.from({ length: requests }, () => {
    now += random.exponential(requestsPerSecond);
    return now;
  });
  return { arrivalSeconds, prompt: Int32Array.from({ length: requests }, () => random.int(PROMPTS)) };
}

/** Time outside the engine is enabled, whatever the hardware's own value, so that every test here includes it. */
function engine(model: string, tp: number) {
  const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp, pp: 1 });
  if (!fit.fits) throw new Error(fit.reason);
  return { ...fit.replica, requestSeconds: (inputTokens: number) => 0.01 + 1e-5 * inputTokens };
}

const replicas = (model: string, { tp, count, maxInFlight = 256 }: { tp: number; count: number; maxInFlight?: number }) =>
  Array.from({ length: count }, (_, index) => ({ id: `${model}-${index}`, model, replica: engine(model, tp), maxInFlight }));

const cascade = (models: readonly string[], thresholds: readonly number[], below: number | number[] = 0) =>
  buildPolicy({
    kind: "cascade",
    stages: models.map((model) => ({ model })),
    thresholds: [...thresholds],
    judge: { model: "weir-judge", secondsPerCall: 0.5, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
    ...(below === 0 ? {} : { directStart: { below, router: { kind: "modelled", auc: 0.7 } } }),
  });

const deployment = [
  ...replicas(LADDER[0]!, { tp: 1, count: 8 }),
  ...replicas(LADDER[1]!, { tp: 4, count: 4 }),
  ...replicas(LADDER[2]!, { tp: 8, count: 2 }),
];

test("one model on one replica behaves as the replica alone does", () => {
  const outcomes = tableOf(["llama-3.1-8b"]);
  const sample = sampleOf(500, 10);
  const [only] = replicas("llama-3.1-8b", { tp: 1, count: 1, maxInFlight: 10_000 });
  const whole = simulateCluster({ policy: cascade(["llama-3.1-8b"], []), replicas: [only!], sample, outcomes, judgeSeconds: 0.5 });
  const alone = simulateReplica(only!.replica, {
    arrivalSeconds: sample.arrivalSeconds,
    inputTokens: sample.prompt.map((prompt) => outcomes.inputTokens[prompt]!),
    outputTokens: sample.prompt.map((prompt) => outcomes.models[0]!.outputTokens[prompt]!),
  });
  expect(whole.endToEndSeconds).toEqual(alone.endToEndSeconds);
  expect(whole.ttftSeconds).toEqual(alone.ttftSeconds);
  expect(whole.stages[0]!.busyShare).toBeCloseTo(alone.busySeconds / alone.horizonSeconds, 12);
});

test("each request ends at the first stage whose judged score reaches the threshold, with that answer's label", () => {
  const outcomes = tableOf(LADDER);
  const sample = sampleOf(400, 8);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }), (first, second) => {
      const whole = simulateCluster({
        policy: cascade(LADDER, [first, second]),
        replicas: deployment,
        sample,
        outcomes,
        judgeSeconds: 0.5,
      });
      const expected = Array.from(sample.prompt, (prompt) => {
        if (outcomes.models[0]!.judged[prompt]! >= first) return 0;
        return outcomes.models[1]!.judged[prompt]! >= second ? 1 : 2;
      });
      expect(Array.from(whole.finalStage)).toEqual(expected);
      expect(whole.unserved).toBe(0);
      expected.forEach((stage, request) => {
        expect(whole.quality[request]).toBe(outcomes.models[stage]!.label[sample.prompt[request]!]);
      });
      expect(whole.stages[0]!.requests).toBe(400);
      expect(whole.stages[1]?.requests ?? 0).toBe(expected.filter((stage) => stage > 0).length);
    }),
    { numRuns: 10 },
  );
});

test("a direct start sends each request to the stages that the planner foresees, and to no others", () => {
  const outcomes = withRouterScores(tableOf(LADDER), { auc: 0.7, seed: 9 });
  const sample = sampleOf(400, 8);
  const threshold = fc.integer({ min: 0, max: 100 });
  const score = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(threshold, threshold, fc.oneof(score, fc.tuple(score, score)), (first, second, below) => {
      const thresholds = [first, second];
      const whole = simulateCluster({
        policy: cascade(LADDER, thresholds, below),
        replicas: deployment,
        sample,
        outcomes,
        judgeSeconds: 0.5,
      });
      const { exit, accepted, share } = routePrompts(planningSample(outcomes, sample.prompt, LADDER), [0, 1, 2], thresholds, below);
      expect(Array.from(whole.finalStage)).toEqual(Array.from(exit));
      expect(whole.quality).toEqual(accepted);
      for (const [stage, own] of whole.stages.entries()) expect(own.share).toBe(share[stage]);
      const judgements = thresholds.reduce((sum, own, stage) => sum + (own > 0 ? (whole.stages[stage]?.requests ?? 0) : 0), 0);
      const inStages = whole.stages.reduce((sum, stage) => sum + stage.latencySeconds.reduce((a, b) => a + b, 0), 0);
      const total = whole.endToEndSeconds.reduce((a, b) => a + b, 0);
      expect(total).toBeCloseTo(inStages + 0.5 * judgements, 6);
    }),
    { numRuns: 10 },
  );
});

test("requests start at the first stage where the table carries no router's scores", () => {
  const given = { replicas: deployment, sample: sampleOf(200, 8), outcomes: tableOf(LADDER), judgeSeconds: 0.5 };
  expect(simulateCluster({ policy: cascade(LADDER, [60, 60], 50), ...given })).toEqual(
    simulateCluster({ policy: cascade(LADDER, [60, 60]), ...given }),
  );
});

test("end-to-end time is the sum of the visited stages and of one judgement for each judged stage", () => {
  const whole = simulateCluster({
    policy: cascade(LADDER, [60, 60]),
    replicas: deployment,
    sample: sampleOf(300, 5),
    outcomes: tableOf(LADDER),
    judgeSeconds: 0.5,
  });
  const total = whole.endToEndSeconds.reduce((a, b) => a + b, 0);
  const judgements = whole.stages.slice(0, 2).reduce((sum, stage) => sum + stage.requests, 0);
  const inStages = whole.stages.reduce((sum, stage) => sum + stage.latencySeconds.reduce((a, b) => a + b, 0), 0);
  expect(total).toBeCloseTo(inStages + 0.5 * judgements, 6);
});

test("a full replica keeps requests in the central queue, which counts into their latency", () => {
  const outcomes = tableOf(["llama-3.1-8b"]);
  const sample = sampleOf(200, 50);
  const at = (maxInFlight: number) =>
    simulateCluster({
      policy: cascade(["llama-3.1-8b"], []),
      replicas: replicas("llama-3.1-8b", { tp: 1, count: 1, maxInFlight }),
      sample,
      outcomes,
      judgeSeconds: 0,
    });
  expect(at(2).unserved).toBe(0);
  expect(mean(at(2).endToEndSeconds)).toBeGreaterThan(2 * mean(at(256).endToEndSeconds));
});

test("the next stage starts when the answer of the one before is seen", () => {
  const outcomes = tableOf(LADDER.slice(0, 2));
  const at = (requestSeconds: () => number) =>
    simulateCluster({
      policy: cascade(LADDER.slice(0, 2), [100]),
      replicas: deployment.slice(0, 12).map((one) => ({ ...one, replica: { ...one.replica, requestSeconds } })),
      // One request at a time, so that nothing else differs.
      sample: { arrivalSeconds: Float64Array.of(0, 1000), prompt: Int32Array.of(0, 1) },
      outcomes,
      judgeSeconds: 0.5,
    });
  const [without, delayed] = [at(() => 0), at(() => 2)];
  expect(without.finalStage).toEqual(Int8Array.of(1, 1));
  for (const request of [0, 1]) {
    expect(delayed.endToEndSeconds[request]! - without.endToEndSeconds[request]!).toBeCloseTo(4, 9);
    expect(delayed.ttftSeconds[request]! - without.ttftSeconds[request]!).toBeCloseTo(4, 9);
  }
});

test("requests that no replica can hold, or whose model has no replica, are counted as unserved", () => {
  const table = tableOf(["llama-3.1-8b"]);
  const outcomes = { ...table, inputTokens: table.inputTokens.map((tokens, prompt) => (prompt < 20 ? 10_000_000 : tokens)) };
  const sample = sampleOf(300, 10);
  const policy = () => cascade(["llama-3.1-8b"], []);
  const tooLong = sample.prompt.filter((prompt) => prompt < 20).length;
  const served = simulateCluster({
    policy: policy(),
    replicas: replicas("llama-3.1-8b", { tp: 1, count: 1 }),
    sample,
    outcomes,
    judgeSeconds: 0,
  });
  expect(served.unserved).toBe(tooLong);
  expect(served.endToEndSeconds.filter((seconds) => seconds === Number.POSITIVE_INFINITY)).toHaveLength(tooLong);
  expect(simulateCluster({ policy: policy(), replicas: [], sample, outcomes, judgeSeconds: 0 }).unserved).toBe(300);
});

test("the same simulation twice gives the same result", () => {
  const run = () =>
    simulateCluster({
      policy: cascade(LADDER, [50, 50]),
      replicas: deployment,
      sample: sampleOf(500, 20),
      outcomes: tableOf(LADDER),
      judgeSeconds: 0.3,
    });
  expect(run()).toEqual(run());
});

test("grace lets fewer requests through to an overloaded stage and answers them sooner, the same on every run, and nothing changes without overload", () => {
  const models = LADDER.slice(0, 2);
  const outcomes = tableOf(models);
  const engines = [...replicas(models[0]!, { tp: 1, count: 4 }), ...replicas(models[1]!, { tp: 4, count: 1, maxInFlight: 4 })];
  const grace = { waiting: 10, calm: 2, holdSeconds: 5, pointsPerSecond: 5 };
  const run = (rate: number, graced: boolean) =>
    simulateCluster({
      policy: buildPolicy({
        kind: "cascade",
        stages: models.map((model) => ({ model })),
        thresholds: [60],
        judge: { model: "weir-judge", secondsPerCall: 0.5, usdPerCall: 0 },
        ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
        approvedRanges: { thresholds: [{ min: 30, max: 80 }] },
        ...(graced && { grace }),
      }),
      ...{ replicas: engines, sample: sampleOf(600, rate), outcomes, judgeSeconds: 0.5 },
    });
  const [plain, graced, again] = [run(20, false), run(20, true), run(20, true)];
  expect(graced.stages[1]!.share).toBeLessThan(0.9 * plain.stages[1]!.share);
  expect(quantile(graced.endToEndSeconds, 0.95)).toBeLessThan(quantile(plain.endToEndSeconds, 0.95));
  expect(again.endToEndSeconds).toEqual(graced.endToEndSeconds);
  expect(run(0.2, true).endToEndSeconds).toEqual(run(0.2, false).endToEndSeconds);
});

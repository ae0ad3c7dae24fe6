import { afterAll, beforeAll, expect, test } from "vitest";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import { noUserCards } from "@/solver/hardware/catalogue";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measuredProfile } from "@/solver/hardware/measuredProfile";
import { PROCESSOR_CARD, processorCard } from "@/solver/hardware/processorCard";
import { seededRandom } from "@/solver/numeric/random";
import type { Workload } from "@/solver/workload/workload";
import { hashOf } from "../lib/provenance";
import { type Ask, FLOOR, type Known, plannedFor } from "./cascadePlans";
import { CORES, LARGE, SMALL } from "./connections";
import { type PredictionContext, predictedAlone } from "./predictions";
import { outcomesOf } from "./questions";
import { orderOn } from "./realEngine";

const cards = withRealModelCards({ ...noUserCards, gpus: [processorCard(8e9)] });

const limit = (value: number) => ({ value, origin: "reported" }) as const;

/** An engine whose step takes so many seconds, as if it had been measured. */
const engineOf = (model: string, stepSeconds: number): MeasuredEngine => ({
  ...{ model, gpu: PROCESSOR_CARD, shape: { tp: 1, pp: 1 } },
  step: {
    decode: [
      { at: 0, seconds: stepSeconds },
      { at: 16, seconds: 2 * stepSeconds },
    ],
    prefill: [
      { at: 0, seconds: 0 },
      { at: 64, seconds: stepSeconds },
    ],
    ...{ secondsPerPrompt: 0, secondsPerKvToken: 0, secondsPerPair: 0 },
  },
  request: { seconds: 1e-3, secondsPerInputToken: 0, secondsPerOutputToken: 0, delaySeconds: 1e-3 },
  limits: { kvTokens: limit(16_384), maxSequences: limit(16), maxBatchedTokens: limit(512), contextTokens: limit(2048) },
  ...{ errors: null, p95Errors: null, noise: null },
  measuredOn: {
    ...{ runs: 20, requests: 300, asOf: "2026-11-28", source: "an engine" },
    ...{ inputTokens: { least: 4, most: 512 }, outputTokens: { least: 2, most: 128 }, concurrency: { least: 1, most: 32 } },
  },
});

/** The small model is right in two of three answers, and the judge knows mostly which; the large one nearly always. */
function known(): Known {
  const random = seededRandom(7);
  const count = 400;
  const label = Array.from({ length: count }, () => (random.next() < 0.66 ? 100 : 0));
  const judged = label.map((one) => Math.round(one === 100 ? 60 + 40 * random.next() : 75 * random.next()));
  const always = Array.from({ length: count }, () => (random.next() < 0.99 ? 100 : 0));
  const tokens = label.map(() => 6);
  return {
    outcomes: outcomesOf({
      inputTokens: label.map(() => 10),
      models: [
        { model: SMALL, outputTokens: tokens, label, judged },
        { model: LARGE, outputTokens: tokens, label: always, judged: always },
      ],
    }),
    judge: { kind: "fixed", model: "arith-judge", secondsPerCall: 0.005, usdPerCall: 0 },
  };
}

let planner: Planner;
beforeAll(() => {
  planner = createPlanner();
});
afterAll(() => planner.close());

const contextOf = (largeSeconds: number): PredictionContext => {
  const engines = [engineOf(SMALL, 0.002), engineOf(LARGE, largeSeconds)];
  const profile = measuredProfile({ id: "own", name: "Own", engine: "vllm", cards }, engines);
  return { planner, profile, profileHash: hashOf(profile), cards, seconds: 40 };
};

const ask = (what: Ask["what"], rate: number): Ask => ({ key: `vllm | ${what} | ${rate}`, what, rate });

test("the planner chooses threshold, replicas and cores of the cascade at the floor, and the larger model alone is planned alike", async () => {
  const context = contextOf(0.02);
  const cascade = await plannedFor(context, ask("cascade", 20), known());
  expect(cascade.plan?.policy.stages.map(({ model }) => model)).toEqual([SMALL, LARGE]);
  const { predicted } = cascade;
  expect(predicted.refused).toBeNull();
  expect(predicted.quality).toBeGreaterThanOrEqual(FLOOR);
  expect(predicted.thresholds).toEqual(cascade.plan?.policy.thresholds);
  expect(predicted.cores).toBe(2);
  expect(predicted.engines).toEqual([orderOn(SMALL, 0).id, orderOn(LARGE, 1).id]);
  // A later part of the bench makes the same plan again.
  expect((await plannedFor(contextOf(0.02), ask("cascade", 20), known())).predicted).toEqual(predicted);
  const alone = await plannedFor(context, ask("alone", 20), known());
  expect(alone.plan?.policy.stages.map(({ model }) => model)).toEqual([LARGE]);
  expect(alone.predicted.cores).toBeLessThanOrEqual(Math.min(2, CORES));
  expect(alone.predicted.quality).toBeGreaterThanOrEqual(FLOOR);
});

test("where the larger model alone is faster the planner says so, and the cascade is the best that it lists beside it", async () => {
  const cascade = await plannedFor(contextOf(0.002), ask("cascade", 5), known());
  expect(cascade.predicted.chosen).toBe("alone");
  expect(cascade.plan?.policy.stages.map(({ model }) => model)).toEqual([SMALL, LARGE]);
  expect(cascade.predicted.quality).toBeGreaterThanOrEqual(FLOOR);
});

test("a load that no plan sustains has a reason and no figures", async () => {
  const { plan, predicted } = await plannedFor(contextOf(0.02), ask("alone", 5000), known());
  expect(plan).toBeNull();
  expect(predicted.refused).toMatch(/\w/);
  expect(predicted.p95).toBeNull();
});

test("the plan of one model on one core orders the engine that the bench starts", async () => {
  const { outcomes } = known();
  const arrivalSeconds = Float64Array.from({ length: 500 }, (_, index) => index);
  const large = outcomes.models.filter(({ model }) => model === LARGE);
  const workload: Workload = {
    ...{ name: "w", outcomes: { ...outcomes, models: large }, arrivalSeconds, judge: { kind: "measured" }, seed: 1 },
    origin: { outcomes: "made", arrivals: "even", generated: true },
  };
  const asked = { workload, requestsPerSecond: 5, models: [LARGE], mostCores: 1, fixed: null, qualityFloor: 0, judge: null };
  const { plan, prediction } = await predictedAlone(contextOf(0.01), asked);
  expect(prediction.refused).toBeNull();
  expect(targetEngines(plan ?? expect.fail()).map(({ id }) => id)).toEqual([orderOn(LARGE, 0).id]);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { ControlsForecast, LiveFrame } from "@/server/contracts/studio";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import type { PolicyOverrides } from "@/solver/policies/policyControls";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { type ControlForecasts, createControlForecasts } from "./controlForecasts";

const clusterId = "c";
const [small, large] = ["qwen2.5-3b", "qwen2.5-7b"] as const;
const planner = createPlanner();
let folder: string;
let store: Store;
let plan: Plan;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-forecasts-"));
  store = openStore(folder);
  const nodes = [{ name: "node1", gpus: 4 }];
  const cluster = { id: clusterId, name: "c", kind: "described" as const, gpu: "l40s", nodes, usdPerGpuHour: 1 };
  store.clusters.insert(cluster, new Date().toISOString());
  const workload = shortWorkload({ prompts: 600, ladder: [small, large], seed: 4 });
  const answer = await planner.solve({
    ...{ workload, workloadId: storeWorkload(store, workload), cluster, requestsPerSecond: 10 },
    fixed: { models: [small, large], thresholds: [50] },
    objective: {
      ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30 },
      ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
    },
  });
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  plan = answer.plan;
  store.plans.keep(plan);
}, 60_000);
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** A running cluster as the collector reports it. */
function forecastsUnder(policy: PolicyDocument, { requests = 0, missing = 0 } = {}): ControlForecasts {
  const engines = runningReplicas(plan)
    .slice(missing)
    .map(({ model }, at) => ({ id: `e${at}`, model, health: "serving" }));
  const routing = { etag: "e", planId: plan.id, policyHash: JSON.stringify(policy), policy, controls: null };
  const frame = {
    ...{ engines, gateway: { state: "fresh", routing }, recent: { requests } },
    measured: { requests, windowSeconds: 20 },
  } as unknown as LiveFrame;
  const collector = { routing: () => routing, frames: () => [frame] };
  const planning = createPlanningService(store, planner, createCardStore(folder));
  return createControlForecasts({ store, clusterOf: () => ({ collector: () => collector as never }), planning });
}

const signal = new AbortController().signal;
async function forecastOf(forecasts: ControlForecasts, values: PolicyOverrides): Promise<ControlsForecast> {
  const answer = await forecasts.forecast(clusterId, values, signal);
  if (!answer.ok) throw new Error(answer.message);
  return answer.forecast;
}
const message = async (forecasts: ControlForecasts, values: PolicyOverrides) => {
  const answer = await forecasts.forecast(clusterId, values, signal);
  return answer.ok ? "forecast" : answer.message;
};

function cascade(): PolicyDocument & { kind: "cascade" } {
  if (plan.policy.kind !== "cascade") throw new Error("a cascade was asked");
  return { ...plan.policy, approvedRanges: { thresholds: [{ min: 30, max: 80 }] } };
}
function slack(tau: number): SlackPolicy {
  const models = [
    { model: small, decodeSecondsPerToken: 0.01, maxBatchSize: 64, confidence: 0.5 },
    { model: large, decodeSecondsPerToken: 0.02, maxBatchSize: 64, confidence: 0.8 },
  ];
  const approvedRanges = { tau: { min: 0, max: 4 }, deltaScore: { min: 0, max: 0.5 } };
  return {
    kind: "slack",
    models,
    tau,
    deltaScore: 0,
    floorSeconds: 0,
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    approvedRanges,
  };
}

it("forecasts a higher threshold as more requests for the larger model, beside the policy in force, at the planned rate without load", async () => {
  const forecasts = forecastsUnder(cascade());
  const forecast = await forecastOf(forecasts, { thresholds: [70] });
  const { inForce, changed, models, requestsPerSecond, basis } = forecast;
  expect({ models, requestsPerSecond }).toEqual({ models: [small, large], requestsPerSecond: 10 });
  expect(basis).toMatch(/no load to speak of/);
  expect(inForce.share[0]).toBe(1);
  expect(changed.share[1]!).toBeGreaterThan(inForce.share[1]!);
  expect(changed.quality!).toBeGreaterThan(inForce.quality!);
  // The whole simulation of the plan is the same at its own rate.
  expect(inForce.p95Seconds!).toBeCloseTo(plan.predictions.p95Seconds, 6);
  expect(inForce.p95Band!.high).toBeCloseTo(plan.predictions.p95Band.high, 6);
  expect(inForce.quality! - inForce.qualityLow!).toBeCloseTo(plan.predictions.quality - plan.predictions.qualityBand.low, 6);
  expect(forecasts.shown({ clusterId, policyHash: JSON.stringify(cascade()), policy: { ...cascade(), thresholds: [70] } })).toEqual(
    forecast,
  );
  expect(forecasts.shown({ clusterId, policyHash: "another", policy: { ...cascade(), thresholds: [70] } })).toBeNull();
  expect(forecasts.shown({ clusterId, policyHash: JSON.stringify(cascade()), policy: { ...cascade(), thresholds: [71] } })).toBeNull();
});

it("simulates at the measured rate on the engines that serve, and says both", async () => {
  const { requestsPerSecond, basis, inForce } = await forecastOf(forecastsUnder(cascade(), { requests: 100, missing: 1 }), {
    thresholds: [60],
  });
  expect(requestsPerSecond).toBe(5);
  const planned = runningReplicas(plan).length;
  expect(basis).toMatch(/^At 5 requests\/s, as measured/);
  expect(basis).toContain(`${planned - 1} of the plan's ${planned} engines serve.`);
  const whole = await forecastOf(forecastsUnder(cascade(), { requests: 100 }), { thresholds: [60] });
  expect(inForce.capacityPerSecond!).toBeLessThan(whole.inForce.capacityPerSecond!);
});

it("forecasts more slack as more requests for the surer model of slack dispatch, whose shares add up", async () => {
  const { inForce, changed, models } = await forecastOf(forecastsUnder(slack(0)), { tau: 3 });
  expect(models).toEqual([small, large]);
  for (const { share } of [inForce, changed]) expect(share.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 6);
  expect(changed.share[1]!).toBeGreaterThan(inForce.share[1]!);
  expect(changed.quality!).toBeGreaterThan(inForce.quality!);
});

it("says in one sentence which value cannot be set, and which policy is not simulated", async () => {
  expect(await message(forecastsUnder(cascade()), { thresholds: [81] })).toBe(
    "The threshold of stage 1 is 81, outside its approved range 30 to 80.",
  );
  expect(await message(forecastsUnder(slack(0)), { tau: 5 })).toBe("tau is 5, outside its approved range 0 to 4.");
  expect(await message(forecastsUnder(cascade()), { tau: 1 })).toBe(
    "The policy in force is of the kind cascade, which has no control tau.",
  );
  expect(await message(forecastsUnder({ kind: "fixed", model: small, order: { kind: "fcfs" }, place: { kind: "least-load" } }), {})).toBe(
    "The policy in force is of the kind fixed, which has no controls.",
  );
});

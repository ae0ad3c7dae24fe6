import { afterAll, beforeAll, expect, test } from "vitest";
import { createPlanner } from "@/server/planning/planner/planner";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import type { Plan } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { planUnder } from "./planUnder";

const workload = shortWorkload({ prompts: 2000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const RATE = 30;
const planner = createPlanner();
let plan: Plan;

beforeAll(async () => {
  const answer = await planner.solve({
    workload,
    workloadId: "w",
    cluster: { id: "c", name: "c", kind: "described", gpu: "l40s", nodes: [{ name: "node1", gpus: 4 }], usdPerGpuHour: 1 },
    requestsPerSecond: RATE,
    objective: {
      ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor: 30 },
      ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
    },
    fixed: null,
  });
  if (answer.outcome !== "plan") throw new Error(answer.reason);
  plan = answer.plan;
}, 60_000);
afterAll(() => planner.close());

const outcomeUnder = (replaced: Parameters<typeof planUnder>[2], of: Plan = plan) =>
  planUnder(planner, { plan: of, workload }, replaced, new AbortController().signal);
async function under(replaced: Parameters<typeof planUnder>[2], of: Plan = plan) {
  const outcome = await outcomeUnder(replaced, of);
  if (outcome.kind !== "predicted") throw new Error(JSON.stringify(outcome));
  return outcome.predictions;
}

test("nothing replaced, the plan is predicted as it promised", async () => {
  const predicted = await under({});
  expect(predicted.p95Seconds / plan.predictions.p95Seconds).toBeCloseTo(1, 6);
  expect(predicted.quality).toBeCloseTo(plan.predictions.quality, 6);
  expect(predicted.costUsdPerHour).toBeCloseTo(plan.predictions.costUsdPerHour, 6);
});

test("more requests and slower judgements make it slower, and far too many it does not keep up with", async () => {
  const busier = await under({ requestsPerSecond: 1.5 * RATE });
  expect(busier.p95Seconds).toBeGreaterThan(1.1 * plan.predictions.p95Seconds);
  const judged = await under({ judgeSecondsPerCall: 3 });
  expect(judged.p95Seconds).toBeGreaterThan(plan.predictions.p95Seconds + 1);
  expect(await outcomeUnder({ requestsPerSecond: 200 * RATE })).toEqual({ kind: "overloaded" });
});

test("nothing replaced, a plan under rules on shapes, nodes and pins is predicted as it promised, and so is one on replicas that are given", async () => {
  const cluster = { ...plan.inputs.cluster, nodes: [1, 2].map((node) => ({ name: `node${node}`, gpus: 2 })) };
  const constraints = planConstraintsSchema.parse({
    ...{ shapes: [{ model: "qwen2.5-7b", tp: 1 }], nodes: [{ model: "qwen2.5-7b", only: ["node2"] }] },
    ...{ pinned: [{ model: "qwen2.5-3b", replicas: 1 }], maxGpus: 3 },
  });
  const asked = { workload, workloadId: "w", cluster, requestsPerSecond: 1, objective: plan.inputs.objective };
  const fixed = { models: ["qwen2.5-7b"], thresholds: [] };
  const given = [0, 1].map((gpu) => ({
    ...{ model: ["qwen2.5-3b", "qwen2.5-7b"][gpu] ?? "", shape: { tp: 1, pp: 1 } },
    placements: [{ node: "node1", gpus: [gpu] }],
  }));
  const cascade = { models: ["qwen2.5-3b", "qwen2.5-7b"], thresholds: [50] };
  for (const own of [
    { ...asked, fixed, constraints },
    { ...asked, fixed: cascade, running: given, topology: "given" as const },
  ]) {
    const answer = await planner.solve(own);
    if (answer.outcome !== "plan") throw new Error(answer.reason);
    const predicted = await under({}, answer.plan);
    expect(predicted.p95Seconds / answer.plan.predictions.p95Seconds).toBeCloseTo(1, 6);
    expect(predicted.stages.map(({ share }) => share)).toEqual(answer.plan.predictions.stages.map(({ share }) => share));
  }
}, 60_000);

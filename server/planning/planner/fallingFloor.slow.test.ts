import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { readWorkload } from "@/server/cli/flags/workloadFlags";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { cardOf, catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { PlanDraft } from "@/solver/plan/plan";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk } from "./planningDesk";

const OUTCOMES = "../shared/data/quality/cascade_outcomes.csv";
const ARRIVALS = "../shared/data/traces/AzureLLMInferenceTrace_conv.csv";
const { models } = catalogueOf(noUserCards);

const FLOORS = [86, 84, 82, 80, 74, 70];
const NODES = ["node1", "node2", "node3", "node4"].map((name) => ({ name, gpus: 8 }));

async function plansByFloor(): Promise<PlanDraft[]> {
  const flags = { family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], judgeAuc: 0.8, outcomes: OUTCOMES, arrivals: ARRIVALS };
  const read = await readWorkload({ ...flags, models: {}, seed: 1 }, catalogueOf(noUserCards));
  if (!read.ok) throw new Error(read.message);
  const { workload } = read;
  const cluster = { id: "test", name: "test", kind: "described" as const, gpu: "h100-sxm", nodes: NODES, usdPerGpuHour: 3 };
  const situation = { workload, workloadId: workloadHash(workload), cluster, requestsPerSecond: 60 };
  const desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
  return FLOORS.map((qualityFloor) => {
    const objective = { kind: "latency-under-quality" as const, latency: "end-to-end" as const, percentile: 95, qualityFloor };
    const asked = { ...objective, qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 32 };
    const answer = desk.work(situation, { kind: "solve", objective: asked, fixed: null }, () => false);
    if (answer.kind !== "draft") throw new Error(`no plan at a floor of ${qualityFloor}: ${JSON.stringify(answer)}`);
    return answer.draft;
  });
}

test("as the floor falls GPUs move to smaller models and stages drop, on Llama-3.1's real outcomes (Cascadia, table 2)", {
  ...needs(file(OUTCOMES), file(ARRIVALS)),
  timeout: 180_000,
}, async () => {
  const plans = await plansByFloor();
  const parametersPerGpu = plans.map(({ deployment }) => {
    const gpus = deployment.reduce((sum, own) => sum + own.gpus, 0);
    return deployment.reduce((sum, own) => sum + own.gpus * (cardOf(models, own.model)?.paramsB ?? 0), 0) / gpus;
  });
  const largest = plans.map(({ deployment }) => deployment.find(({ model }) => model === "llama-3.1-405b-fp8")?.gpus ?? 0);
  const cascades = plans.map(({ policy }) => policy.stages.map(({ model }) => model).join(" > "));
  const stageCounts = plans.map(({ policy }) => policy.stages.length);
  for (let at = 1; at < plans.length; at += 1) {
    // A dropped first stage leaves its GPUs to the next larger model, so the mean may rise a little there.
    const dropsAStage = stageCounts[at] !== stageCounts[at - 1];
    expect(parametersPerGpu[at]).toBeLessThanOrEqual((parametersPerGpu[at - 1] ?? 0) * (dropsAStage ? 1.05 : 1));
    expect(largest[at]).toBeLessThanOrEqual(largest[at - 1] ?? 0);
    expect(plans[at]?.predictions.p95Seconds).toBeLessThanOrEqual((plans[at - 1]?.predictions.p95Seconds ?? 0) * 1.05);
  }
  expect(parametersPerGpu.at(-1)).toBeLessThan((parametersPerGpu[0] ?? 0) / 4);
  expect(largest[0]).toBeGreaterThan(0);
  expect(largest.at(-1)).toBe(0);
  expect(new Set(cascades).size).toBeGreaterThan(1);
  for (const [at, { predictions }] of plans.entries()) expect(predictions.qualityBand.low).toBeGreaterThanOrEqual(FLOORS[at] ?? 100);
});

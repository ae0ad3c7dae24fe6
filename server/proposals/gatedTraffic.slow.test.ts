import { afterAll, beforeAll, expect, test } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { defaultCascade } from "@/server/contracts/gateway/gatewayAdmin";
import { mirrorSchema } from "@/server/contracts/gateway/gatewayControls";
import type { Proposal } from "@/server/contracts/studio";
import { startLoad } from "@/server/load/driver";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import { loadWorkload, storeWorkload } from "@/server/workloads/storedWorkloads";
import { quantile } from "@/solver/numeric/quantile";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import type { Workload } from "@/solver/workload/workload";
import { applyPlan, until } from "./testing/appliedPlan";
import { createTrafficWatch } from "./trafficWatch";

const clusterId = "embedded";
const MODELS = ["qwen2.5-3b", "qwen2.5-7b"];
const RATE = 2;
const WINDOW = 150;
const timeScale = 10;
/** Emulated engines are as sure of an answer as its judged score says, and of none surer than of their least sure other token. */
const SUREST = 90;

const generated = shortWorkload({ prompts: 3000, ladder: MODELS, seed: 4 });
const workload: Workload = {
  ...generated,
  outcomes: {
    ...generated.outcomes,
    models: generated.outcomes.models.map((own) => ({ ...own, confidence: own.judged.map((score) => Math.min(SUREST, score)) })),
  },
};

let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let collector: Collector;
const planner = createPlanner();
beforeAll(async () => {
  cluster = await startTestCluster({ timeScale });
  const { environment } = cluster;
  collector = createCollector({
    ...{ clusterId, targets: () => [], dcgmUrls: [], adminToken: environment.WEIR_ADMIN_TOKEN, timeScale, intervalMs: 200 },
    gatewayAdminUrl: cluster.gatewayAdminUrl,
  });
}, 60_000);
afterAll(async () => {
  collector.close();
  await planner.close();
  await cluster.stop();
});

/** Requests of whose prompts the small model is least sure. */
function harderSample(requests: number) {
  const { outcomes, seed } = workload;
  const sure = outcomes.models[0]?.confidence ?? new Float64Array();
  const { heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  const limit = quantile(
    Float64Array.from(heldOut, (row) => sure[row] ?? 0),
    0.5,
  );
  const hard = heldOut.filter((row) => (sure[row] ?? 0) < limit);
  const sample = drawSample(workload, { part: "heldOut", requestsPerSecond: RATE, requests, seed: 9 });
  return { ...sample, prompt: sample.prompt.map((_, at) => hard[at % hard.length] ?? 0) };
}

test("traffic that becomes harder under a confidence gate leads to a proposal, planned from what traffic and mirror have seen", async () => {
  const { store, environment } = cluster;
  const nodes = [{ name: "node1", gpus: 4 }];
  store.clusters.insert(
    { id: clusterId, name: "embedded", kind: "embedded", gpu: "l40s", nodes, usdPerGpuHour: 1 },
    "2026-01-01T00:00:00Z",
  );
  const workloadId = storeWorkload(store, workload);
  const planning = createPlanningService(store, planner, createCardStore(environment.WEIR_STATE_DIR));
  const objective = {
    ...{ kind: "latency-under-quality" as const, latency: "end-to-end" as const, percentile: 95, qualityFloor: 35 },
    ...{ qualityConfidence: 0.9, latencyBudgetSeconds: null, maxGpus: 4 },
  };
  const asked = {
    workloadId,
    clusterId,
    requestsPerSecond: RATE,
    objective,
    fixed: { models: MODELS, thresholds: [35] },
    gateChoice: "confidence" as const,
  };
  const solved = await planning.solve(asked, {});
  if (solved.outcome !== "plan") throw new Error(solved.reason);
  const { plan } = solved;
  if (plan.policy.kind !== "cascade") throw new Error(plan.policy.kind);
  expect(plan.policy.gates?.map(({ kind }) => kind)).toEqual(["confidence"]);
  await applyPlan(plan, { cluster, clusterId });
  const mirror = { share: 0.5, maxInFlight: 100, by: "ann", reason: "harder traffic" };
  const begun = await cluster.gateway("/mirror", { method: "PUT", body: mirror, parts: {}, schema: mirrorSchema });
  expect(begun.ok).toBe(true);

  const watch = createTrafficWatch({
    ...{ store, planning, windowSeconds: WINDOW, lookEveryMs: 100 },
    sourceOf: () => ({ decisions: collector.decisions, mirrored: collector.mirrored, timeScale }),
  });
  const seconds = 20 * WINDOW;
  const load = startLoad({
    ...{ id: "load", gatewayUrl: cluster.gatewayUrl, model: defaultCascade, timeScale, workloadName: "w", seconds, labelled: false },
    requestsPerSecond: RATE,
    sample: harderSample(RATE * seconds),
    outcomes: workload.outcomes,
  });
  const [small, large] = plan.policy.stages.map(({ model }) => model);
  // A busy machine sends less than it should, and the rate may be the first to drift.
  const isOfScores = ({ drifted }: Proposal): boolean => drifted.some(({ name }) => name === `score of ${small}`);
  const answer = await until((): Proposal | null => store.proposals.list(clusterId).find(isOfScores) ?? null);
  await load.stop();
  await watch.close();
  const score = answer.drifted.find(({ name }) => name === `score of ${small}`);
  expect(score?.now).toBeLessThan((score?.planned ?? 0) - 5);
  expect(answer.basis.join(" ")).toMatch(/of the most similar of \d{3,} mirrored requests, which all models answered/);

  const proposed = store.plans.get(answer.planId);
  const now = loadWorkload(store, proposed?.inputs.workload.id ?? "");
  const column = (of: Workload | null, model = "") => of?.outcomes.models.find((own) => own.model === model);
  const mean = (values: ArrayLike<number> = []) => Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
  // The confidence of the small model is what the gate read, and what it says of the labels is what it said before.
  expect(mean(column(now, small)?.confidence)).toBeLessThan(mean(column(workload, small)?.confidence) - 5);
  expect(mean(column(now, small)?.label)).toBeLessThan(mean(column(workload, small)?.label) - 5);
  // Lengths of the large model on requests that the small one answered are those of mirrored requests.
  const mirrored = new Set(collector.mirrored().flatMap(({ answers }) => answers.find(({ model }) => model === large)?.outputTokens ?? []));
  const visited = new Set(
    collector.decisions(20_000).flatMap(({ stages }) => stages.find(({ model }) => model === large)?.outputTokens ?? []),
  );
  const lengths = Array.from(column(now, large)?.outputTokens ?? []);
  expect(lengths.filter((tokens) => !mirrored.has(tokens) && !visited.has(tokens))).toEqual([]);
  expect(collector.mirrored().every(({ answers }) => answers.find(({ model }) => model === small)?.gate?.kind === "confidence")).toBe(true);
});

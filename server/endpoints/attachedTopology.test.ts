import { beforeAll, describe, expect, it } from "vitest";
import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "@/server/planning/planner/planningDesk";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { noUserCards } from "@/solver/hardware/catalogue";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, Plan } from "@/solver/plan/plan";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { attachedEngines } from "./attachedEngines";
import { type AttachedTopology, attachedTopology } from "./attachedTopology";
import { connectionSchema, type EndpointConnection } from "./connection";
import { createEndpointHost } from "./endpointHost";

const [SMALL, MIDDLE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;

const connectionOf = (endpoints: readonly Record<string, unknown>[]): EndpointConnection =>
  connectionSchema.parse({
    kind: "endpoints",
    endpoints: endpoints.map((one, index) => ({
      name: `e${index}`,
      url: `http://10.0.0.${index + 1}:8000`,
      gpu: "h100-sxm",
      precision: "bf16",
      ...one,
    })),
  });

function frozen(connection: EndpointConnection): AttachedTopology {
  const answer = attachedTopology(connection, { id: "c", name: "attached", userCards: noUserCards });
  if (!answer.ok) throw new Error(answer.message);
  return answer;
}

const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 40,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 64,
};

let desk: PlanningDesk;
beforeAll(async () => {
  desk = createPlanningDesk(await loadGlpkEngine(), () => 0);
});

function planOver({ cluster, models, running, userCards }: AttachedTopology): Plan {
  // Every engine is in a plan that is to keep all of them.
  const constraints = { ...noConstraints, idleGpus: false, pinned: models.map((model) => ({ model, replicas: 1 })) };
  const workload = shortWorkload({ prompts: 300, seed: 5 });
  const situation = {
    workload,
    workloadId: "made-up",
    requestsPerSecond: 10,
    cluster,
    models,
    running,
    constraints,
    userCards,
    topology: "given" as const,
  };
  const answer = desk.work(situation, { kind: "solve", objective, fixed: null }, () => false);
  if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
  return sealPlan(answer.draft, new Date("2026-01-01T00:00:00Z"));
}

const TUNED = "small-tuned";

/** A plan of the cascade from the base model to its adapter. */
function cascadeOver(connection: EndpointConnection, requestsPerSecond: number) {
  const { cluster, models, running, userCards } = frozen(connection);
  const workload = shortWorkload({ prompts: 300, seed: 5 });
  const outcomes = workload.outcomes.models.slice(0, 2).map((one, index) => ({ ...one, model: [SMALL, TUNED][index] ?? "" }));
  const situation = {
    ...{ workload: { ...workload, outcomes: { ...workload.outcomes, models: outcomes } }, workloadId: "made-up", requestsPerSecond },
    ...{ cluster, models, running, userCards, topology: "given" as const },
  };
  return desk.work(situation, { kind: "solve", objective, fixed: { models: [SMALL, TUNED], thresholds: [60] } }, () => false);
}

describe("a plan over an engine with an adapter", { timeout: 120_000 }, () => {
  const url = "http://10.0.0.1:8000";
  const adapter = { model: TUNED, adapterOf: SMALL, servedName: "tuned" };
  const [shared, apart] = [{ ...adapter, url }, adapter].map((second) => connectionOf([{ model: SMALL }, second]));

  it("has the adapter's node name its engine, and gives it its parent's card", () => {
    const { cluster, userCards } = frozen(shared!);
    expect(cluster.nodes).toEqual([
      { name: "e0", gpus: 1 },
      { name: "e1", gpus: 1, engineOf: "e0" },
    ]);
    expect(userCards.models).toMatchObject([{ id: TUNED, source: `an adapter of ${SMALL}` }]);
    expect(frozen(apart!).cluster.nodes[1]).toEqual({ name: "e1", gpus: 1 });
  });

  it("pays its GPU once, and loads it with the work of both", () => {
    const plans = [shared!, apart!].map((connection) => {
      const answer = cascadeOver(connection, 30);
      if (answer.kind !== "draft") throw new Error(JSON.stringify(answer));
      return answer.draft.predictions;
    });
    const [one, two] = plans as [Plan["predictions"], Plan["predictions"]];
    expect(one.costUsdPerHour).toBeCloseTo(two.costUsdPerHour / 2, 6);
    const both = two.stages.reduce((sum, { utilisation }) => sum + utilisation, 0);
    for (const { utilisation } of one.stages) expect(utilisation / both).toBeCloseTo(1, 1);
    expect(one.p95Seconds).toBeGreaterThan(two.p95Seconds);
    expect(one.quality).toBe(two.quality);
  });

  it("is overloaded where the two together are more than one engine's work, though each alone is not", () => {
    // 0.99 % of an engine for each request a second of the base model, 0.69 % of the adapter's.
    expect(cascadeOver(apart!, 75).kind).toBe("draft");
    expect(cascadeOver(shared!, 75)).toMatchObject({ kind: "infeasible", answer: { kind: "overloaded" } });
  });
});

describe("a plan over attached endpoints", { timeout: 120_000 }, () => {
  it.each<[string, readonly Record<string, unknown>[]]>([
    ["two models of one shape each", [{ model: SMALL }, { model: SMALL }, { model: MIDDLE, tp: 2 }]],
    ["one model in two shapes", [{ model: SMALL }, { model: MIDDLE, tp: 2 }, { model: MIDDLE }, { model: MIDDLE, tp: 4 }]],
    ["GPUs of two types", [{ model: SMALL, gpu: "l40s" }, { model: SMALL, gpu: "h100-sxm" }, { model: MIDDLE }]],
    [
      "another precision than the card's",
      [
        { model: SMALL, precision: "fp8" },
        { model: MIDDLE, pp: 2 },
      ],
    ],
    ["a single engine", [{ model: MIDDLE, tp: 2 }]],
  ])("has exactly these engines, and fits: %s", async (_, endpoints) => {
    const connection = connectionOf(endpoints);
    const plan = planOver(frozen(connection));
    const ids = (engines: readonly { readonly id: string }[]) => engines.map(({ id }) => id).sort();
    expect(ids(targetEngines(plan))).toEqual(ids(attachedEngines(connection)));
    const observed = await createEndpointHost(connection).observe({});
    if (!observed.ok) throw new Error(observed.message);
    expect(planMismatch(observed.value, plan)).toBeNull();
  });

  it.each<[readonly Record<string, unknown>[], string]>([
    [[{ model: "nobody" }], 'There is no card of a model "nobody".'],
    [[{ model: SMALL, gpu: "abacus" }], 'There is no card of a GPU "abacus".'],
    [
      [{ model: SMALL }, { model: SMALL, precision: "fp8" }],
      `${SMALL} is served in bf16 and fp8: give one of them its own card, for their answers differ.`,
    ],
  ])("says what it cannot be made for (%#)", (endpoints, message) => {
    expect(attachedTopology(connectionOf(endpoints), { id: "c", name: "c", userCards: noUserCards })).toEqual({ ok: false, message });
  });
});

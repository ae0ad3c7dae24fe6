import { beforeAll, describe, expect, it } from "vitest";
import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { createPlanningDesk, type PlanningDesk } from "@/server/planning/planner/planningDesk";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { noUserCards } from "@/solver/hardware/catalogue";
import { noConstraints } from "@/solver/plan/constraints";
import type { Objective, Plan } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
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
  const workload = generatedWorkload({ prompts: 300, seed: 5 });
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

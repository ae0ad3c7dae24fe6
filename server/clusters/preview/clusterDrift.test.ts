import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import type { Plan } from "@/solver/plan/plan";
import { withSinglesPolicy } from "@/solver/plan/policySchema";
import type { Observation } from "../connector/connector";
import { gatewayConfig } from "../connector/gatewayRouting";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus } from "../testing/testCluster";
import { clusterDrift, type DriftContext } from "./clusterDrift";

const [SMALL, MIDDLE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;

function planOn(gpusOf: Readonly<Record<string, readonly number[]>>): Plan {
  const drafted = planOnGpus("held", gpusOf);
  const cluster = { ...drafted.inputs.cluster, gpu: "l40s", nodes: [{ name: "node1", gpus: 8 }] };
  return sealPlan({ ...drafted, inputs: { ...drafted.inputs, cluster } }, new Date("2026-01-01T00:00:00Z"));
}

/** A cluster that matches a plan exactly. */
function held(plan: Plan): DriftContext & { readonly config: GatewayConfig } {
  const engines = targetEngines(plan).map(({ precision: _, ...order }, index) => ({
    ...order,
    url: `http://127.0.0.1:${9000 + index}`,
    stopping: false,
  }));
  const routing = { planId: plan.id, active: engines.map(({ id }) => id), cordoned: [] };
  const judge = { model: "judge", url: "http://127.0.0.1:8999" };
  const config = gatewayConfig({ routing, plan, engines, judge, timeScale: 1, current: null });
  if (config === null) throw new Error("There is no policy.");
  const observation: Observation = {
    ...{ gpu: "l40s", nodes: [{ name: "node1", gpus: 8 }], engines, routing, policyModels: [SMALL, MIDDLE] },
    ...{ outcomes: null, timeScale: 1, deviates: null, dcgmUrls: [] },
  };
  return { plan, observation, config, objects: [], isOperators: () => false };
}

/** Engines of the two models on disjoint GPUs of one node. */
const plans = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
  .map(([small, middle]) =>
    planOn({ [SMALL]: Array.from({ length: small }, (_, gpu) => gpu), [MIDDLE]: Array.from({ length: middle }, (_, gpu) => small + gpu) }),
  );

const two = () => held(planOn({ [SMALL]: [0, 1], [MIDDLE]: [2] }));
const says = (ground: DriftContext): readonly string[] => clusterDrift(ground).map((line) => line.says);
const withConfig = (ground: ReturnType<typeof two>, change: Partial<GatewayConfig>): DriftContext => ({
  ...ground,
  config: { ...ground.config, ...change },
});
const withSeen = (ground: DriftContext, change: Partial<Observation>): DriftContext => ({
  ...ground,
  observation: { ...ground.observation, ...change },
});

describe("clusterDrift", () => {
  it("finds nothing where a cluster does what the plan in force asks for", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(clusterDrift(held(plan))).toEqual([]);
      }),
    );
  });

  it("names every engine that is gone, each once, and none that is there", () => {
    fc.assert(
      fc.property(plans, fc.array(fc.nat(), { maxLength: 4 }), (plan, lost) => {
        const ground = held(plan);
        const { engines } = ground.observation;
        const gone = new Set(lost.map((at) => engines[at % engines.length]?.id ?? ""));
        const left = engines.filter(({ id }) => !gone.has(id));
        const lines = clusterDrift(withSeen(ground, { engines: left })).filter(({ of }) => of === "engine");
        expect(lines.map(({ subject }) => subject).sort()).toEqual([...gone].sort());
      }),
    );
  });

  it("names every engine that the gateway has cordoned or forgotten, and every one it was given", () => {
    fc.assert(
      fc.property(
        plans,
        fc.array(fc.constantFrom("cordoned", "forgotten", "kept"), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        (plan, fates, added) => {
          const ground = held(plan);
          const stranger = { id: "stranger", model: SMALL, url: "http://127.0.0.1:1", state: "active", maxInFlight: 1 } as const;
          const replicas = ground.config.replicas.flatMap((replica, index) =>
            fates[index] === "forgotten" ? [] : [fates[index] === "cordoned" ? { ...replica, state: "cordoned" as const } : replica],
          );
          const lines = clusterDrift(withConfig(ground, { replicas: added ? [...replicas, stranger] : replicas }));
          const wronged = ground.config.replicas.filter((_, index) => fates[index] !== "kept").map(({ id }) => id);
          expect(lines.map(({ subject }) => subject).sort()).toEqual([...wronged, ...(added ? ["stranger"] : [])].sort());
          expect(lines.every(({ of }) => of === "routing")).toBe(true);
        },
      ),
    );
  });

  it("tells turned knobs from another policy under the plan's name", () => {
    const ground = two();
    const { policy } = ground.config;
    if (policy.kind !== "cascade") throw new Error("The plan is no cascade.");
    expect(says(withConfig(ground, { policyHash: "turned", policy: { ...policy, thresholds: [55] } }))).toEqual([
      "Knobs were turned at the gateway: threshold 60 became threshold 55.",
    ]);
    const rounds = { kind: "just-in-time" as const, workflows: [], selection: { kind: "beam" as const, width: 4 } };
    const models = policy.stages.map(({ model }) => ({ model, cost: 1, saturationBatch: 1, throughput: [] }));
    const joint = (own: typeof policy) => withSinglesPolicy({ ...rounds, models, order: own.order, place: own.place }, own);
    const planned = ground.plan === null ? null : { ...ground.plan, policy: joint(policy) };
    const turned = { policyHash: "turned", policy: joint({ ...policy, thresholds: [55] }) };
    expect(says({ ...withConfig(ground, turned), plan: planned })).toEqual([
      "Knobs were turned at the gateway: threshold 60 became threshold 55.",
    ]);
    const other = { ...policy, place: { ...policy.place, kind: "lowest-kv" as const } };
    expect(says(withConfig(ground, { policyHash: "other", policy: other }))).toEqual([
      expect.stringContaining("another policy than the plan's"),
    ]);
  });

  it("says one thing of a gateway that follows another plan, has none, or follows one where none is in force", () => {
    const ground = two();
    expect(says(withConfig(ground, { planId: "other", replicas: [] }))).toEqual([expect.stringContaining("follows plan other")]);
    expect(says({ ...ground, config: null })).toEqual([expect.stringContaining("no configuration")]);
    expect(says({ ...ground, plan: null })).toEqual([expect.stringContaining("no plan is in force here")]);
    expect(says({ ...withConfig(ground, { planId: "" }), plan: null })).toEqual([]);
  });

  it("says where hardware is not what was planned for", () => {
    expect(says(withSeen(two(), { nodes: [{ name: "node1", gpus: 4 }] }))).toEqual(["node1 has 4 l40s, and was planned for with 8 l40s."]);
    expect(says(withSeen(two(), { nodes: [{ name: "node1", gpus: 8, gpu: "h100-sxm" }] }))).toEqual([
      expect.stringContaining("8 h100-sxm"),
    ]);
    expect(says(withSeen(two(), { nodes: [] }))).toEqual([expect.stringContaining("node1, on which the plan has engines, is not there")]);
    expect(says(withSeen(two(), { nodes: [{ name: "node1", gpus: 8, othersGpus: 6 }] }))).toEqual([
      expect.stringContaining("Others use 6"),
    ]);
  });

  it("says of an engine that no plan asked for where it stands, unless its operator runs it beside the plan's", () => {
    const ground = two();
    const stranger = (gpu: number) => ({
      id: "stranger",
      model: SMALL,
      gpu: "l40s",
      tp: 1,
      pp: 1,
      placements: [{ node: "node1", gpus: [gpu] }],
      url: "http://127.0.0.1:1",
      stopping: false,
    });
    const standing = (gpu: number) => withSeen(ground, { engines: [...ground.observation.engines, stranger(gpu)] });
    expect(says(standing(7))).toEqual(["stranger runs on node1 GPU 7, which the plan in force leaves free."]);
    expect(says({ ...standing(7), isOperators: ({ id }) => id === "stranger" })).toEqual([]);
    expect(says({ ...standing(0), isOperators: () => true })).toEqual([
      expect.stringContaining("runs on GPUs that the plan in force gives to"),
    ]);
    expect(says(withSeen(standing(7), { topology: "given" }))).toEqual([]);
  });

  it("shows of an object only the lines that differ, and says nothing of one that is as it was written", () => {
    const ground = two();
    const engineId = ground.observation.engines[0]?.id ?? "";
    const generated = "kind: Deployment\nspec:\n  replicas: 1\n  image: a";
    expect(says({ ...ground, objects: [{ engineId, generated, actual: generated }] })).toEqual([]);
    const actual = generated.replace("replicas: 1", "replicas: 0");
    expect(clusterDrift({ ...ground, objects: [{ engineId, generated, actual }] })).toMatchObject([
      { of: "object", subject: engineId, generated: "replicas: 1", actual: "replicas: 0" },
    ]);
  });
});

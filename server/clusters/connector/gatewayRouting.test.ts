import { describe, expect, it } from "vitest";
import { policyHash, revisedPolicy } from "@/server/contracts/gateway/policyHash";
import { configRefusal } from "@/server/gateway/serving/configRefusal";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { targetEngines } from "../steps/targetEngines";
import { gatewayConfig } from "./gatewayRouting";

/** A plan whose replicas have these request limits, in the order of its models; null: not given. */
function planHolding(limits: readonly (number | null)[]) {
  const draft = examplePlanDraft();
  const deployment = draft.deployment.map((model, index) => ({
    ...model,
    replicas: model.replicas.map((group) => ({ ...group, ...(limits[index] == null ? {} : { maxInFlight: limits[index] }) })),
  }));
  return sealPlan({ ...draft, deployment }, new Date(0));
}

/** A plan from before a threshold of 0 meant that nothing is judged: it deploys a judge, and its threshold may be raised. */
function unjudgedPlan(most: number, isDeployed = true) {
  const draft = examplePlanDraft();
  const [first] = draft.deployment;
  const own = { model: "judge-engine", secondsPerCall: 0.3, usdPerCall: 0, engine: { rubricTokens: 400, outputTokens: 20 } };
  const policy = { ...draft.policy, judge: own, thresholds: [0], approvedRanges: { thresholds: [{ min: 0, max: most }] } };
  const judging = isDeployed && first !== undefined ? [{ ...first, model: "judge-engine" }] : [];
  return sealPlan({ ...draft, deployment: [...draft.deployment, ...judging], policy }, new Date(0));
}

const judge = { model: "weir-judge", url: "http://127.0.0.1:1" };

function configFor(
  plan: ReturnType<typeof planHolding>,
  current: ReturnType<typeof gatewayConfig>,
  gone: string[] = [],
  silent: string[] = [],
) {
  const engines = targetEngines(plan).map((engine) => ({ ...engine, stopping: false, url: "http://127.0.0.1:2" }));
  const others = gone.map((id) => ({ ...engines[0]!, id }));
  const active = [...engines.map(({ id }) => id), ...gone];
  const routing = { planId: plan.id, active, cordoned: [] };
  const config = gatewayConfig({ routing, plan, engines: [...engines, ...others], judge, timeScale: 1, silent, current });
  if (config === null) throw new Error("no configuration");
  return config;
}

describe("gatewayConfig", () => {
  it("lets each engine hold what the plan was verified with", () => {
    expect(configFor(planHolding([40, 7]), null).replicas.map(({ maxInFlight }) => maxInFlight)).toEqual([40, 7]);
  });

  it("lets engines of plans that say nothing hold as many as an engine runs", () => {
    expect(configFor(planHolding([null, null]), null).replicas.map(({ maxInFlight }) => maxInFlight)).toEqual([256, 256]);
  });

  it("marks the engines of models that report no log probabilities, so that the gateway refuses a gate that reads them", () => {
    const plan = planHolding([40, 7]);
    const [first = ""] = plan.policy.stages.map(({ model }) => model);
    const marks = ({ replicas }: ReturnType<typeof configFor>) => replicas.map(({ model, logProbabilities }) => [model, logProbabilities]);
    const config = configFor(plan, null, [], [first]);
    expect(marks(config)).toEqual(config.replicas.map(({ model }) => [model, model === first ? false : undefined]));
    const gates = plan.policy.thresholds.map(() => ({ kind: "confidence", measure: "minimum" }) as const);
    const gated = { ...config, policy: { ...plan.policy, gates } };
    expect(configRefusal(gated)).toMatch(
      /^The confidence gate of stage 1 reads log probabilities, which the engine \S+ of \S+ does not report\.$/,
    );
    // A policy with such a gate that is in force stays writable, as its engines can still be drained and its thresholds set.
    const draft = examplePlanDraft();
    const inForce = sealPlan({ ...draft, policy: { ...draft.policy, gates } }, new Date(0));
    const kept = configFor(inForce, null, [], [first]);
    expect(configRefusal(kept)).toBeNull();
  });

  it("keeps what the engines of an earlier plan held while they help out", () => {
    const before = configFor(planHolding([40, 7]), null);
    const helping = { ...before, replicas: before.replicas.map((replica, index) => (index === 0 ? { ...replica, id: "old" } : replica)) };
    const after = configFor(planHolding([50, 60]), helping, ["old"]);
    expect(after.replicas.map(({ maxInFlight }) => maxInFlight)).toEqual([50, 60, 40]);
  });

  it("has requests wait for a model whose last engine changes its GPU, unless everything is being ended", () => {
    const plan = planHolding([40, 7]);
    const before = configFor(plan, null);
    expect(before.awaited).toBeUndefined();
    const engines = targetEngines(plan).map((engine) => ({ ...engine, stopping: false, url: "http://127.0.0.1:2" }));
    const [small, large] = engines.map(({ id }) => id) as [string, string];
    const awaitedWith = (routing: { planId: string | null; active: string[]; cordoned: string[] }) =>
      gatewayConfig({ routing, plan, engines, judge, timeScale: 1, current: before })?.awaited;
    expect(awaitedWith({ planId: plan.id, active: [large], cordoned: [small] })).toEqual(["small"]);
    expect(awaitedWith({ planId: plan.id, active: [large], cordoned: [] })).toEqual(["small"]);
    expect(awaitedWith({ planId: null, active: [], cordoned: [small, large] })).toBeUndefined();
  });

  it("keeps the plan's own judge while its threshold is 0, for a threshold that is raised within the approved range", () => {
    const before = configFor(unjudgedPlan(12), null);
    expect(before.judge).toEqual({ model: "judge-engine" });
    const raised = revisedPolicy(before, { thresholds: [7] });
    if (typeof raised === "string") throw new Error(raised);
    expect(raised.change).toBe("Set thresholds from 0 (not judged) to 7");
    const turned = { ...before, policy: raised.policy, policyHash: raised.policyHash };
    expect(configFor(unjudgedPlan(12), turned)).toEqual(turned);
  });

  it("names the cluster's judge where no threshold can be raised, or the plan deploys no judge", () => {
    expect(configFor(unjudgedPlan(0), null).judge).toEqual(judge);
    expect(configFor(unjudgedPlan(12, false), null).judge).toEqual(judge);
  });

  it("leaves the knobs of the plan in force as they stand, and gives another plan its own policy", () => {
    const plan = planHolding([40, 7]);
    const before = configFor(plan, null);
    if (before.policy.kind !== "cascade") throw new Error("not a cascade");
    const policy = { ...before.policy, thresholds: before.policy.thresholds.map((threshold) => threshold + 1) };
    const turned = { ...before, policy, policyHash: policyHash(policy) };
    expect(configFor(plan, turned)).toEqual(turned);
    const another = planHolding([50, 60]);
    expect(configFor(another, turned)).toMatchObject({ planId: another.id, policy: another.policy, policyHash: another.policyHash });
  });
});

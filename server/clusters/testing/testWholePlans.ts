import { expect } from "vitest";
import { gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { WorkloadSummary } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Plan } from "@/solver/plan/plan";
import { type ApplyRunnerOptions, createApplyRunner } from "../apply/applyRunner";
import { targetEngines } from "../steps/targetEngines";
import { startTestCluster } from "./testCluster";

const at = "2026-01-01T00:00:00.000Z";

/** A test cluster with saved and approved plans, one of them in force, and a check that a plan is fully in force. */
export async function clusterOfPlans(plans: readonly [Plan, ...Plan[]], options: Parameters<typeof startTestCluster>[0]) {
  const cluster = await startTestCluster(options);
  const { store, connector } = cluster;
  const [first] = plans;
  store.clusters.insert({ ...first.inputs.cluster, id: "embedded", kind: "embedded" }, at);
  store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
  for (const plan of plans) {
    store.plans.keep(plan);
    store.approvals.insert({ planId: plan.id, clusterId: "embedded", actor: "a", at, reason: "" });
  }
  const newRunner = (options: Partial<ApplyRunnerOptions> = {}) =>
    createApplyRunner({ store, connectorOf: () => connector, graceMs: 0, ...options });

  async function ended(id: string): Promise<StoredApplication> {
    for (;;) {
      const application = store.applications.get(id);
      if (application?.endedAt) return application;
      if (application?.state === "paused" && application.halt !== null) throw new Error(`It halted: ${application.halt.sentence}`);
      await new Promise((wake) => setTimeout(wake, 10));
    }
  }

  /** Engines, gateway and store have the same plan, and nothing of another is left. */
  async function expectWhole(plan: Plan): Promise<void> {
    const observed = await connector.observe();
    if (!observed.ok) throw new Error(observed.message);
    const ids = targetEngines(plan).map(({ id }) => id);
    const { engines, routing } = observed.value;
    expect(engines.map(({ id, stopping }) => `${id} ${stopping}`).sort()).toEqual(ids.map((id) => `${id} false`).sort());
    expect({ ...routing, active: [...routing.active].sort() }).toEqual({ planId: plan.id, active: [...ids].sort(), cordoned: [] });
    const config = await cluster.gateway("/config", { schema: gatewayConfigSchema });
    expect(config.ok && config.value.value).toMatchObject({ planId: plan.id, policyHash: plan.policyHash });
    expect(store.clusters.get("embedded")?.runningPlanId).toBe(plan.id);
  }

  const apply = async (plan: Plan): Promise<StoredApplication> => {
    const runner = newRunner();
    const started = await runner.start({ clusterId: "embedded", planId: plan.id, kind: "apply", actor: "a" });
    if (!started.ok) throw new Error(started.message);
    const application = await ended(started.application.id);
    await runner.close();
    return application;
  };
  await apply(first);
  await expectWhole(first);
  return { ...cluster, newRunner, ended, expectWhole, apply };
}

export type ClusterOfPlans = Awaited<ReturnType<typeof clusterOfPlans>>;

import { expect } from "vitest";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import { createEmulatorHost } from "@/server/clusters/connector/emulatorHost";
import type { startTestCluster } from "@/server/clusters/testing/testCluster";
import { heldOutOutcomes } from "@/server/workloads/heldOutOutcomes";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";

interface Applied {
  readonly cluster: Awaited<ReturnType<typeof startTestCluster>>;
  readonly clusterId: string;
}

/** What is looked for, as soon as it is there. */
export const until = async <Found>(look: () => Found | null): Promise<Found> => {
  for (;;) {
    const found = look();
    if (found !== null) return found;
    await new Promise((wake) => setTimeout(wake, 50));
  }
};

/** Keeps, approves and applies a plan to a test's emulated cluster; resolves once it is in force. */
export async function applyPlan(plan: Plan, { cluster, clusterId }: Applied): Promise<void> {
  const { store, environment } = cluster;
  const connector = createConnector({
    host: createEmulatorHost({
      emulator: createAdminClient("emulator", cluster.emulatorUrl, environment.WEIR_ADMIN_TOKEN),
      heldOutOutcomes: (id) => {
        const found = loadWorkload(store, id);
        return found === null ? null : heldOutOutcomes({ ...found, name: id });
      },
    }),
    gateway: cluster.gateway,
    planOf: (id) => store.plans.get(id),
  });
  store.plans.keep(plan);
  store.approvals.insert({ planId: plan.id, clusterId, actor: "a", at: "2026-01-01T00:00:00.000Z", reason: "" });
  const runner = createApplyRunner({ store, connectorOf: () => connector, graceMs: 0 });
  const started = await runner.start({ clusterId, planId: plan.id, kind: "apply", actor: "a" });
  if (!started.ok) throw new Error(started.message);
  const ended = await until(() => {
    const application = store.applications.get(started.application.id);
    return application?.endedAt == null ? null : application;
  });
  expect(ended.error).toBeNull();
  await runner.close();
}

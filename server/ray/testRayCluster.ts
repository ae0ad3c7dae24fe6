import type { ClusterUnderTest } from "@/server/clusters/connectorContract";
import { targetEngines } from "@/server/clusters/targetEngines";
import { planOnGpus, startTestCluster } from "@/server/clusters/testCluster";
import { sealPlan } from "@/server/planning/sealPlan";
import { createRayConnector } from "./rayConnector";
import type { RayHost } from "./rayHost";

/** A gateway before a Ray, with a kept plan of one engine on a GPU of one of its nodes. */
export async function startRayCluster(host: RayHost, node: string, stopRay: () => Promise<void>): Promise<ClusterUnderTest> {
  const cluster = await startTestCluster();
  const { id: _, topologyHash: __, policyHash: ___, ...draft } = planOnGpus("one", { "qwen2.5-3b": [1] });
  const deployment = draft.deployment.map((model) => ({
    ...model,
    replicas: model.replicas.map((group) => ({ ...group, placements: [[{ node, gpus: [1] }]] })),
  }));
  const plan = sealPlan({ ...draft, deployment }, new Date("2026-01-01T00:00:00Z"));
  const [engine] = targetEngines(plan);
  if (engine === undefined) throw new Error("The plan has no engine.");
  cluster.store.plans.keep(plan);
  return {
    connector: createRayConnector({ host, gateway: cluster.gateway, planOf: (id) => cluster.store.plans.get(id) }),
    engine,
    planId: plan.id,
    workloadId: "w",
    async stop() {
      await cluster.stop();
      await stopRay();
    },
    async ask() {
      const body = JSON.stringify({ model: "cascade/one", messages: [{ role: "user", content: "hello" }], max_tokens: 2 });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${cluster.gatewayUrl}/v1/chat/completions`, { method: "POST", headers, body });
      await answer.text();
      return answer.status;
    },
  };
}

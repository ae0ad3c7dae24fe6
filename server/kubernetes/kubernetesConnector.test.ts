import { createConnector } from "@/server/clusters/clusterConnector";
import { connectorContract } from "@/server/clusters/connectorContract";
import { startTestCluster } from "@/server/clusters/testCluster";
import { createKubernetesHost } from "./kubernetesHost";
import { startTestKubernetes } from "./testKubernetes";

connectorContract("Kubernetes", async () => {
  const kubernetes = await startTestKubernetes();
  const cluster = await startTestCluster();
  const [node] = kubernetes.nodes;
  const host = createKubernetesHost(kubernetes.connection(), { clusterId: "lab", everyMs: 50 });
  return {
    connector: createConnector({ host, gateway: cluster.gateway, planOf: (id) => cluster.store.plans.get(id) }),
    ...cluster.oneEngineOn(node),
    async stop() {
      await cluster.stop();
      await kubernetes.stop();
    },
  };
});

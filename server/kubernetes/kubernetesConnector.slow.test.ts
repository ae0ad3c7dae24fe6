import { connectorContract } from "@/server/clusters/testing/connectorContract";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { createKubernetesHost } from "./kubernetesHost";
import { startTestKubernetes } from "./testing/testKubernetes";

connectorContract("Kubernetes", async () => {
  const kubernetes = await startTestKubernetes();
  const cluster = await startTestCluster();
  const [node] = kubernetes.nodes;
  const host = createKubernetesHost(kubernetes.connection(), { clusterId: "lab", everyMs: 50 });
  return {
    ...cluster.underContract(host, node),
    async stop() {
      await cluster.stop();
      await kubernetes.stop();
    },
  };
});

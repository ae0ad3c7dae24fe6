import type { ClusterUnderTest } from "@/server/clusters/testing/connectorContract";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import type { RayHost } from "../rayHost";

/** A gateway in front of a Ray, with a saved plan of one engine on a GPU of one of its nodes. */
export async function startRayCluster(host: RayHost, node: string, stopRay: () => Promise<void>): Promise<ClusterUnderTest> {
  const cluster = await startTestCluster();
  return {
    ...cluster.underContract(host, node),
    async stop() {
      await cluster.stop();
      await stopRay();
    },
  };
}

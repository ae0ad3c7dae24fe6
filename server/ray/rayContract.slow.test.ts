import { connectorContract } from "@/server/clusters/testing/connectorContract";
import { startTestRay } from "./testing/testRay";
import { startRayCluster } from "./testing/testRayCluster";

connectorContract("Ray Serve", async () => {
  const ray = await startTestRay();
  return startRayCluster(ray.host(), ray.nodes[0], ray.serve.stop);
});

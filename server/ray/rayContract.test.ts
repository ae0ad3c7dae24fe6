import { connectorContract } from "@/server/clusters/connectorContract";
import { startTestRay } from "./testRay";
import { startRayCluster } from "./testRayCluster";

connectorContract("Ray Serve", async () => {
  const ray = await startTestRay();
  return startRayCluster(ray.host(), ray.nodes[0], ray.serve.stop);
});

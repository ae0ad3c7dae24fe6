import { describe, expect, it } from "vitest";
import { createAdminClient } from "./adminClient";
import { createConnector } from "./clusterConnector";
import { connectorContract } from "./connectorContract";
import { createEmulatorHost } from "./emulatorHost";
import { targetEngines } from "./targetEngines";
import { planOnGpus, startTestCluster } from "./testCluster";

connectorContract("emulator", async () => {
  const cluster = await startTestCluster();
  const plan = planOnGpus("one", { "qwen2.5-3b": [1] });
  const [engine] = targetEngines(plan);
  if (engine === undefined) throw new Error("The plan has no engine.");
  cluster.store.plans.keep(plan);
  return {
    connector: cluster.connector,
    engine,
    planId: plan.id,
    workloadId: "w",
    stop: cluster.stop,
    async ask() {
      const body = JSON.stringify({ model: "cascade/one", messages: [{ role: "user", content: "hello" }], max_tokens: 2 });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${cluster.gatewayUrl}/v1/chat/completions`, { method: "POST", headers, body });
      await answer.text();
      return answer.status;
    },
  };
});

describe("connector", () => {
  it("says which process cannot be reached, where", async () => {
    const nowhere = "http://127.0.0.1:9";
    const connector = createConnector({
      host: createEmulatorHost({ emulator: createAdminClient("emulator", nowhere, "t"), heldOutOutcomes: () => null }),
      gateway: createAdminClient("gateway", nowhere, "t"),
      planOf: () => null,
    });
    const observed = await connector.observe();
    expect(observed.ok ? "" : observed.message).toMatch(/^The emulator at http:\/\/127\.0\.0\.1:9 cannot be reached/);
  });
});

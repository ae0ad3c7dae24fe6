import { describe, expect, it } from "vitest";
import { connectorContract } from "../testing/connectorContract";
import { startTestCluster } from "../testing/testCluster";
import { createAdminClient } from "./adminClient";
import { createConnector } from "./clusterConnector";
import { createEmulatorHost } from "./emulatorHost";

connectorContract("emulator", async () => {
  const cluster = await startTestCluster();
  return { stop: cluster.stop, ...cluster.underContract() };
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

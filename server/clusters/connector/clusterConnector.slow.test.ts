import { describe, expect, it } from "vitest";
import { rollOutOf } from "../apply/rollOutOf";
import { planSteps } from "../steps/planSteps";
import { connectorContract } from "../testing/connectorContract";
import { startTestCluster } from "../testing/testCluster";
import { createAdminClient } from "./adminClient";
import { createConnector } from "./clusterConnector";
import { createEmulatorHost } from "./emulatorHost";
import type { EngineHost } from "./engineHost";

connectorContract("emulator", async () => {
  const cluster = await startTestCluster();
  return { stop: cluster.stop, ...cluster.underContract() };
});

describe("connector", () => {
  it("leaves the routing as it is where an engine that should get requests is ending, so that no other is drained for it", async () => {
    const cluster = await startTestCluster();
    try {
      let isEnding = false;
      const { host, plan } = cluster.underContract();
      const observe: EngineHost["observe"] = async (options) => {
        const found = await host.observe(options);
        if (!found.ok) return found;
        const engines = found.value.engines.map((engine) => ({ ...engine, stopping: isEnding }));
        return { ok: true, value: { ...found.value, engines } };
      };
      const { connector } = cluster.underContract({ ...host, observe });
      const observed = await connector.observe();
      if (!observed.ok) throw new Error(observed.message);
      const options = { signal: new AbortController().signal, report: () => undefined, planId: plan.id };
      const steps = planSteps(rollOutOf(observed.value, plan, connector.emulated));
      for (const { action } of steps) expect(await connector.applyStep(action, options)).toMatchObject({ ok: true });
      const last = steps.at(-1);
      if (last === undefined) throw new Error("There is no step.");
      isEnding = true;
      expect(await connector.applyStep(last.action, options)).toMatchObject({
        ok: false,
        message: expect.stringContaining("gone or ending"),
      });
      isEnding = false;
      expect(await connector.applyStep(last.action, options)).toMatchObject({ ok: true });
    } finally {
      await cluster.stop();
    }
  });

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

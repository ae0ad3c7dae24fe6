import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import type { Connector } from "@/server/clusters/connector/connector";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { connectorContract } from "@/server/clusters/testing/connectorContract";
import { askCascade, planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import type { StepAction } from "@/server/store/documents/storedStep";
import { testEngines, unwatched, whoIs } from "./testing/testEngines";
import { linesOf, testStudio } from "./testing/testStudio";

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** Processes of this host behind the gateway of a test cluster, as a new studio would see them. */
const connectorOver = (cluster: TestCluster, engines: ReturnType<typeof testEngines>): Connector =>
  createConnector({ host: engines.host(), gateway: cluster.gateway, planOf: (id) => cluster.store.plans.get(id) });

connectorContract("local processes", async () => {
  const cluster = await startTestCluster();
  const engines = testEngines();
  return {
    ...cluster.underContract(engines.host()),
    async stop() {
      engines.clear();
      await cluster.stop();
    },
  };
});

describe("engines of a studio that is killed", () => {
  let cluster: TestCluster;
  let engines: ReturnType<typeof testEngines>;
  beforeAll(async () => {
    cluster = await startTestCluster();
    engines = testEngines();
  });
  afterAll(async () => {
    engines.clear();
    await cluster.stop();
  });

  it("serve on, are known again by the next one, and are drained and stopped by it", async () => {
    const plan = planOnGpus("two", { "qwen2.5-3b": [0, 1] });
    cluster.store.plans.keep(plan);
    const orders = targetEngines(plan);
    const ids = orders.map(({ id }) => id);
    const studio = (await testStudio(engines)).run(orders);
    const told = await linesOf(studio, orders.length);
    expect(told.map((line) => JSON.parse(line))).toMatchObject([{ ok: true }, { ok: true }]);
    studio.kill("SIGKILL");
    await once(studio, "exit");

    const connector = connectorOver(cluster, engines);
    const apply = async (action: StepAction) => expect(await connector.applyStep(action, unwatched())).toMatchObject({ ok: true });
    const standing = async () => {
      const seen = await connector.observe();
      if (!seen.ok) throw new Error(seen.message);
      return seen.value;
    };
    const found = (await standing()).engines;
    expect(found.map(({ id }) => id)).toEqual(ids);
    for (const engine of orders) {
      await apply({ kind: "verify", engineId: engine.id, model: engine.model });
      expect(await connector.applyStep({ kind: "start", engine }, unwatched())).toMatchObject({ value: expect.stringMatching(/^was up/) });
    }
    const pids = await Promise.all(found.map(async ({ url }) => (await whoIs(url)).pid));
    await apply({ kind: "switch-policy", routing: { planId: plan.id, active: ids, cordoned: [] } });
    const answered = await askCascade(cluster.gatewayUrl, "two");
    expect(answered.status).toBe(200);
    expect(pids.map((pid) => `I am ${pid}`)).toContain(/I am \d+/.exec(answered.text)?.[0]);

    const [first = "", second = ""] = ids;
    await apply({ kind: "drain", engineId: first, routing: { planId: plan.id, active: [second], cordoned: [first] } });
    await apply({ kind: "stop", engineId: first, routing: { planId: plan.id, active: [second], cordoned: [] } });
    expect((await askCascade(cluster.gatewayUrl, "two")).text).toContain(`I am ${pids[1]}`);
    await apply({ kind: "drain", engineId: second, routing: { planId: plan.id, active: [], cordoned: [second] } });
    await apply({ kind: "stop", engineId: second, routing: { planId: null, active: [], cordoned: [] } });
    expect((await standing()).engines).toEqual([]);
    for (const { url } of found) await expect(fetch(url)).rejects.toThrow();
  });
});

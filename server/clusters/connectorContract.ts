import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineOrder } from "@/server/contracts/engineOrder";
import type { GatewayRouting, StepAction } from "@/server/store/storedStep";
import type { Connector, Observation } from "./connector";

/** A cluster for the contract to change: empty, with room for `engine`, and a kept plan that routes to its model. */
export interface ClusterUnderTest {
  readonly connector: Connector;
  readonly engine: EngineOrder;
  readonly planId: string;
  readonly workloadId: string;
  /** Sends one request for the plan's cascade; the HTTP status. */
  ask(): Promise<number>;
  stop(): Promise<void>;
}

/** What the apply runner relies on, whatever a cluster is made of. Call inside a test file of the connector. */
export function connectorContract(name: string, startCluster: () => Promise<ClusterUnderTest>): void {
  describe(`connector contract: ${name}`, () => {
    let cluster: ClusterUnderTest;
    beforeAll(async () => {
      cluster = await startCluster();
    }, 60_000);
    afterAll(() => cluster.stop());

    const apply = (action: StepAction, signal = new AbortController().signal) =>
      cluster.connector.applyStep(action, { signal, report: () => undefined });
    const observed = async (): Promise<Observation> => {
      const answer = await cluster.connector.observe();
      if (!answer.ok) throw new Error(answer.message);
      return answer.value;
    };
    const routing = (change: Partial<GatewayRouting>): GatewayRouting => ({
      planId: cluster.planId,
      active: [],
      cordoned: [],
      ...change,
    });

    it("says what the cluster is made of while nothing runs", async () => {
      const { gpu, nodes, engines, routing: found } = await observed();
      expect(gpu).toBe(cluster.engine.gpu);
      expect(nodes.length).toBeGreaterThan(0);
      expect(engines).toEqual([]);
      expect(found).toEqual({ planId: null, active: [], cordoned: [] });
    });

    it("says why an engine that was never started cannot be verified", async () => {
      const verified = await apply({ kind: "verify", engineId: "nobody", model: cluster.engine.model });
      expect(verified.ok).toBe(false);
    });

    it("brings an engine up, verifies it and routes to it, each step as good when done twice", async () => {
      const active = [cluster.engine.id];
      const actions: readonly StepAction[] = [
        { kind: "load-outcomes", workloadId: cluster.workloadId },
        { kind: "start", engine: cluster.engine },
        { kind: "verify", engineId: cluster.engine.id, model: cluster.engine.model },
        { kind: "switch-policy", routing: routing({ active }) },
      ];
      for (const action of actions) {
        expect(await apply(action)).toMatchObject({ ok: true });
        expect(await apply(action)).toMatchObject({ ok: true });
      }
      const found = await observed();
      expect(found.engines.map((engine) => engine.id)).toEqual(active);
      expect(found.routing).toEqual(routing({ active }));
      expect(found.policyModels).toEqual([cluster.engine.model]);
      expect(await cluster.ask()).toBe(200);
    });

    it("refuses a second engine on the same GPUs with a sentence", async () => {
      const started = await apply({ kind: "start", engine: { ...cluster.engine, id: "intruder" } });
      expect(started.ok ? "" : started.message).toMatch(/\w+ .*\./);
    });

    it("drains and stops an engine, each step as good when done twice", async () => {
      const engineId = cluster.engine.id;
      for (const action of [
        { kind: "drain", engineId, routing: routing({ cordoned: [engineId] }) },
        { kind: "stop", engineId, routing: routing({ planId: null }) },
      ] as const) {
        expect(await apply(action)).toMatchObject({ ok: true });
        expect(await apply(action)).toMatchObject({ ok: true });
      }
      const found = await observed();
      expect(found.engines).toEqual([]);
      expect(found.routing.planId).toBeNull();
      expect(found.routing.active).toEqual([]);
    });

    it("rejects when it is aborted, and only then", async () => {
      const aborted = AbortSignal.abort();
      await expect(apply({ kind: "verify", engineId: "nobody", model: "m" }, aborted)).rejects.toThrow();
    });
  });
}

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { StepAction } from "@/server/store/documents/storedStep";
import type { Plan } from "@/solver/plan/plan";
import { rollOutOf } from "../apply/rollOutOf";
import type { Connector, Observation } from "../connector/connector";
import type { EngineHost } from "../connector/engineHost";
import { planSteps } from "../steps/planSteps";
import { targetEngines } from "../steps/targetEngines";

/** A cluster that the contract may change: empty, with room for the one engine of a saved plan. */
export interface ClusterUnderTest {
  readonly connector: Connector;
  /** The host on which the connector starts engines. */
  readonly host: EngineHost;
  readonly plan: Plan;
  /** Sends one request for the plan's cascade; the HTTP status. */
  ask(): Promise<number>;
  stop(): Promise<void>;
}

/** What the apply runner and its pages rely on, for every kind of cluster. Call inside a test file of the connector. */
export function connectorContract(name: string, startCluster: () => Promise<ClusterUnderTest>): void {
  describe(`connector contract: ${name}`, () => {
    let cluster: ClusterUnderTest;
    let engine: EngineOrder;
    beforeAll(async () => {
      cluster = await startCluster();
      const [only] = targetEngines(cluster.plan);
      if (only === undefined) throw new Error("The plan has no engine.");
      engine = only;
      // A control plane that was just started takes a while to answer.
      await vi.waitFor(observed, { timeout: 40_000 });
    }, 60_000);
    afterAll(() => cluster.stop());

    const { signal } = new AbortController();
    const options = () => ({ signal, report: () => undefined, planId: cluster.plan.id });
    const apply = (action: StepAction) => cluster.connector.applyStep(action, options());
    const effect = (action: StepAction) => cluster.connector.verifyStep(action, options());
    const observed = async (): Promise<Observation> => {
      const answer = await cluster.connector.observe();
      if (!answer.ok) throw new Error(answer.message);
      return answer.value;
    };
    const stepsTo = async (plan: Plan | null) => planSteps(rollOutOf(await observed(), plan, cluster.connector.emulated));
    const actual = () => cluster.host.actual?.(engine.id, {});

    /** Carries out every step to a plan, twice; returns the kinds of the steps. */
    async function putIntoForce(plan: Plan | null): Promise<readonly string[]> {
      const steps = await stepsTo(plan);
      for (const { action } of steps) {
        // The effect of other steps may be there before.
        if (action.kind === "start" || action.kind === "stop") expect(await effect(action)).toMatchObject({ ok: false });
        expect(await apply(action)).toMatchObject({ ok: true });
        expect(await effect(action)).toMatchObject({ ok: true });
        expect(await apply(action)).toMatchObject({ ok: true });
      }
      // A gateway continues to list the last engine of a model, cordoned, also when it no longer exists.
      expect((await stepsTo(plan)).filter(({ action }) => action.kind !== "switch-policy")).toEqual([]);
      return steps.map(({ action }) => action.kind).filter((kind) => kind !== "load-outcomes");
    }

    it("says what the cluster is made of while nothing runs", async () => {
      const { gpu, nodes, engines, routing } = await observed();
      expect(gpu).toBe(engine.gpu);
      expect(nodes.length).toBeGreaterThan(0);
      expect(engines).toEqual([]);
      expect(routing).toEqual({ planId: null, active: [], cordoned: [] });
      expect((await actual()) ?? { ok: true, value: null }).toEqual({ ok: true, value: null });
    });

    it("says why an engine that was never started cannot be verified", async () => {
      const verified = await apply({ kind: "verify", engineId: "nobody", model: engine.model });
      expect(verified.ok).toBe(false);
    });

    it("refuses an engine on a node that is not there, in a rehearsal with the same words, and no trace is left of either", async () => {
      const before = await observed();
      const elsewhere = { ...engine, id: "elsewhere", placements: [{ node: "no-such-node", gpus: [0] }] };
      const started = await apply({ kind: "start", engine: elsewhere });
      expect(started.ok ? "" : started.message).toMatch(/^[^\n]*no-such-node[^\n]*\.$/);
      if (cluster.host.rehearse !== undefined) {
        expect(await cluster.host.rehearse(elsewhere, options())).toEqual(started);
        expect(await cluster.host.rehearse(engine, options())).toEqual({ ok: true, value: expect.stringMatching(/\w+ .*/) });
      }
      expect(await observed()).toEqual(before);
    });

    it("puts a plan into force by its steps, each as good when done twice, its effect seen then and not before", async () => {
      expect(await putIntoForce(cluster.plan)).toEqual(["start", "verify", "switch-policy"]);
      const { engines, routing, policyModels } = await observed();
      expect(engines.map(({ id }) => id)).toEqual([engine.id]);
      expect(routing).toEqual({ planId: cluster.plan.id, active: [engine.id], cordoned: [] });
      expect(policyModels).toEqual([engine.model]);
      expect(await cluster.ask()).toBe(200);
    });

    it("shows of an engine that stands what it would put down for it, and nothing that waits", async () => {
      expect(await actual()).toEqual(cluster.host.generate?.(engine, cluster.plan.id));
      expect((await cluster.host.why?.(engine.id, {})) ?? null).toBeNull();
      const log = await cluster.host.log?.(engine.id, {});
      if (log?.ok === false) expect(log.message).toMatch(/^\w+ .*\.$/s);
    });

    it("refuses a second engine on the same GPUs with a sentence", async () => {
      const started = await apply({ kind: "start", engine: { ...engine, id: "intruder" } });
      expect(started.ok ? "" : started.message).toMatch(/\w+ .*\./);
    });

    it("goes back to nothing by the steps of that way", async () => {
      expect(await putIntoForce(null)).toEqual(["switch-policy", "drain", "stop"]);
      const { engines, routing } = await observed();
      expect(engines).toEqual([]);
      expect([routing.planId, routing.active]).toEqual([null, []]);
      expect((await actual()) ?? { ok: true, value: null }).toEqual({ ok: true, value: null });
    });

    it("rejects when it is aborted, and only then", async () => {
      const aborted = { signal: AbortSignal.abort(), report: () => undefined };
      await expect(cluster.connector.applyStep({ kind: "verify", engineId: "nobody", model: "m" }, aborted)).rejects.toThrow();
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planMismatch } from "@/server/clusters/apply/planMismatch";
import { rollOutOf } from "@/server/clusters/apply/rollOutOf";
import type { Connector, Observation } from "@/server/clusters/connector/connector";
import { planSteps } from "@/server/clusters/steps/planSteps";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { StepAction } from "@/server/store/documents/storedStep";
import type { Plan } from "@/solver/plan/plan";

/** A cluster whose engines already run and a gateway with nothing in force; saved plans over some of the engines, and one over another. */
export interface GivenClusterUnderTest {
  readonly connector: Connector;
  /** Over every engine. */
  readonly whole: Plan;
  /** Over the same models without the last engine. */
  readonly part: Plan;
  /** Over an engine that does not exist. */
  readonly stranger: Plan;
  /** Sends one request for a plan's cascade; the HTTP status. */
  ask(): Promise<number>;
  /** Engines that answer their health check, by id. */
  alive(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** What the apply runner relies on if engines are run externally. Call inside a test file of the connector. */
export function givenTopologyContract(name: string, startCluster: () => Promise<GivenClusterUnderTest>): void {
  describe(`given topology: ${name}`, () => {
    let cluster: GivenClusterUnderTest;
    beforeAll(async () => {
      cluster = await startCluster();
    }, 60_000);
    afterAll(() => cluster.stop());

    const { signal } = new AbortController();
    const apply = (action: StepAction) => cluster.connector.applyStep(action, { signal, report: () => undefined });
    const observed = async (): Promise<Observation> => {
      const answer = await cluster.connector.observe();
      if (!answer.ok) throw new Error(answer.message);
      return answer.value;
    };
    const stepsTo = async (plan: Plan | null) => planSteps(rollOutOf(await observed(), plan, cluster.connector.emulated));
    const idsOf = (plan: Plan): readonly string[] =>
      targetEngines(plan)
        .map(({ id }) => id)
        .sort();

    /** Carries out a plan, every step twice; returns the kinds of the steps. */
    async function putIntoForce(plan: Plan | null): Promise<readonly string[]> {
      const steps = await stepsTo(plan);
      for (const { action } of steps) {
        expect(await apply(action)).toMatchObject({ ok: true });
        expect(await apply(action)).toMatchObject({ ok: true });
      }
      return steps.map(({ action }) => action.kind);
    }

    it("says that its topology is given, and has every engine under the id that plans give it", async () => {
      const { topology, engines, routing } = await observed();
      expect(topology).toBe("given");
      expect(engines.map(({ id }) => id).sort()).toEqual(idsOf(cluster.whole));
      expect(routing).toEqual({ planId: null, active: [], cordoned: [] });
    });

    it("fits plans over its engines, and says which engine of another plan is not among them", async () => {
      expect(planMismatch(await observed(), cluster.whole)).toBeNull();
      expect(planMismatch(await observed(), cluster.part)).toBeNull();
      expect(planMismatch(await observed(), cluster.stranger)).toMatch(/is not among the engines attached.*frozen\.$/);
    });

    it("puts a plan into force by verifying and routing alone", async () => {
      expect(new Set(await putIntoForce(cluster.whole))).toEqual(new Set(["verify", "switch-policy"]));
      const { routing } = await observed();
      expect({ ...routing, active: [...routing.active].sort() }).toEqual({
        planId: cluster.whole.id,
        active: idsOf(cluster.whole),
        cordoned: [],
      });
      expect(await cluster.ask()).toBe(200);
      expect(await stepsTo(cluster.whole)).toEqual([]);
    });

    it("lets go of an engine that a plan leaves out, under load, without a failed request and without stopping it", async () => {
      let asking = true;
      const statuses: Promise<number>[] = [];
      const load = (async () => {
        while (asking) {
          statuses.push(cluster.ask());
          await new Promise((wake) => setTimeout(wake, 5));
        }
      })();
      const kinds = await putIntoForce(cluster.part);
      asking = false;
      await load;
      expect(kinds).toEqual(["switch-policy", "drain", "switch-policy"]);
      expect((await Promise.all(statuses)).filter((status) => status !== 200)).toEqual([]);
      const { routing, engines } = await observed();
      expect([...routing.active].sort()).toEqual(idsOf(cluster.part));
      expect(routing.cordoned).toEqual([]);
      expect(engines.map(({ id }) => id).sort()).toEqual(idsOf(cluster.whole));
      expect(await cluster.alive()).toEqual(idsOf(cluster.whole));
    });

    it("takes it back, verified anew, on the way back", async () => {
      expect(await putIntoForce(cluster.whole)).toEqual(["verify", "switch-policy"]);
      expect([...(await observed()).routing.active].sort()).toEqual(idsOf(cluster.whole));
    });

    it("says why an engine that is not attached cannot be verified or started", async () => {
      const [engine] = targetEngines(cluster.stranger).filter(({ id }) => !idsOf(cluster.whole).includes(id));
      if (engine === undefined) throw new Error("Every engine of the strange plan is attached.");
      const verified = await apply({ kind: "verify", engineId: engine.id, model: engine.model });
      expect(verified.ok ? "" : verified.message).toMatch(/not among the engines attached/);
      expect(await apply({ kind: "start", engine })).toMatchObject({ ok: false });
    });

    it("takes no more requests on the way to nothing, and every engine runs on", async () => {
      await putIntoForce(null);
      const { routing } = await observed();
      expect([routing.planId, routing.active]).toEqual([null, []]);
      expect(await cluster.ask()).not.toBe(200);
      expect(await cluster.alive()).toEqual(idsOf(cluster.whole));
    });

    it("rejects when it is aborted, and only then", async () => {
      const aborted = { signal: AbortSignal.abort(), report: () => undefined };
      await expect(cluster.connector.applyStep({ kind: "verify", engineId: "nobody", model: "m" }, aborted)).rejects.toThrow();
    });
  });
}

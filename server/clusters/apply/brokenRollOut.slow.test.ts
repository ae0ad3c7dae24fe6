import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { WorkloadSummary } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { openStore } from "@/server/store/store";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus } from "../testing/testCluster";
import { type ClusterOfPlans, clusterOfPlans } from "../testing/testWholePlans";

const old = planOnGpus("old", { "qwen2.5-3b": [0] });
const next = planOnGpus("new", { "qwen2.5-7b": [0] });
/** If one GPU is free, the same roll-out runs in the opposite order. */
const beside = planOnGpus("beside", { "qwen2.5-7b": [1] });

let cluster: ClusterOfPlans;
afterEach(() => cluster.stop());

type Act = "resume" | "abort";

/** Applies a plan, breaks something as soon as a given step is running or the last is done, and does what an operator can if it halts. */
async function broken(plan: typeof old, phase: number, breakIt: () => Promise<unknown>, act?: Act): Promise<StoredApplication> {
  const runner = cluster.newRunner();
  const started = await runner.start({ clusterId: "embedded", planId: plan.id, kind: "apply", actor: "a" });
  if (!started.ok) throw new Error(started.message);
  const { id } = started.application;
  const reached = (application: StoredApplication | null) =>
    application?.endedAt !== null || application.steps.slice(0, phase).every(({ state }) => state === "done");
  while (!reached(cluster.store.applications.get(id))) await new Promise((wake) => setTimeout(wake, 2));
  await breakIt();
  const stands = () => ["grace", "running"].includes(cluster.store.applications.get(id)?.state ?? "");
  while (stands()) await new Promise((wake) => setTimeout(wake, 2));
  const halted = cluster.store.applications.get(id);
  if (halted?.state === "paused" && act !== undefined) {
    expect(halted).toMatchObject({ error: null, halt: { because: "step", sentence: expect.stringMatching(/\w+ .*\w/) } });
    expect(runner[act](id, "a")).toMatchObject({ ok: true, application: { halt: null } });
  }
  const application = await cluster.ended(id);
  await runner.close();
  return application;
}

const kill = async (engine: string) => {
  const headers = { authorization: `Bearer ${cluster.token}` };
  await fetch(`${cluster.emulatorUrl}/engines/${engine}?graceSeconds=0`, { method: "DELETE", headers });
};

describe("a roll-out whose gateway is killed and started again", () => {
  it("waits for it and ends in the new plan, whole, in whatever phase that was", async () => {
    cluster = await clusterOfPlans([old, next, beside], { gpus: 2, timeScale: 500 });
    let [inForce, other] = [old, next];
    for (let phase = 0; phase < 5; phase += 1) {
      const application = await broken(other, phase, () => cluster.restart("gateway"));
      expect(application.error).toBeNull();
      await cluster.expectWhole(other);
      [inForce, other] = [other, inForce];
    }
  }, 60_000);
});

describe("a roll-out during which an engine is killed", () => {
  /** The process that is killed, the plan that comes into force, and the number of its five steps before the kill. */
  const kills = [
    { engines: targetEngines(old), plan: next, phases: [0, 1] },
    { engines: targetEngines(next), plan: next, phases: [3, 4, 5] },
    { engines: targetEngines(beside), plan: beside, phases: [1, 2, 3, 4, 5] },
  ] as const;
  it.each([
    { act: "resume", how: "tried again", ends: ["done"] },
    { act: "abort", how: "rolled back", ends: ["done", "rolled-back"] },
  ] as const)(
    "halts with the reason, and ends in the whole plan once it is $how, in whatever phase that was",
    async ({ act, ends }) => {
      cluster = await clusterOfPlans([old, next, beside], { gpus: 2, timeScale: 500 });
      const seen = new Set<string>();
      for (const { engines, plan, phases } of kills) {
        for (const phase of phases) {
          const { state, error } = await broken(plan, phase, () => Promise.all(engines.map(({ id }) => kill(id))), act);
          seen.add(state);
          expect(error).toBeNull();
          // An engine that was killed after its verification is missing, like any that fails later: applying the plan again starts it.
          if (state === "done") expect((await cluster.apply(plan)).error).toBeNull();
          await cluster.expectWhole(state === "done" ? plan : old);
          if (state === "done") expect((await cluster.apply(old)).error).toBeNull();
        }
      }
      expect([...seen].sort()).toEqual(ends);
    },
    120_000,
  );
});

describe("a roll-out over a plan that another studio put into force", () => {
  it("is given up where it stands when it is aborted, and what serves goes on serving", async () => {
    cluster = await clusterOfPlans([old, beside], { gpus: 2, timeScale: 500 });
    const folder = mkdtempSync(join(tmpdir(), "weir-foreign-"));
    const store = openStore(folder);
    const at = "2026-01-01T00:00:00.000Z";
    store.clusters.insert({ ...beside.inputs.cluster, id: "embedded", kind: "embedded" }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    store.plans.keep(beside);
    store.approvals.insert({ planId: beside.id, clusterId: "embedded", actor: "a", at, reason: "" });
    const runner = cluster.newRunner({ store });
    const started = await runner.start({ clusterId: "embedded", planId: beside.id, kind: "apply", actor: "a" });
    if (!started.ok) throw new Error(started.message);
    const { id } = started.application;
    while (store.applications.get(id)?.steps[0]?.state !== "done") await new Promise((wake) => setTimeout(wake, 2));
    expect(runner.abort(id, "a")).toMatchObject({
      ok: true,
      application: { state: "failed", error: expect.stringMatching(/^Given up where/) },
    });
    await runner.close();
    const observed = await cluster.connector.observe();
    const active = targetEngines(old).map((engine) => engine.id);
    expect(observed).toMatchObject({ ok: true, value: { routing: { planId: old.id, active, cordoned: [] } } });
    expect(observed.ok && observed.value.engines.map((engine) => engine.id)).toEqual(expect.arrayContaining(active));
    store.close();
    rmSync(folder, { recursive: true });
  }, 60_000);
});

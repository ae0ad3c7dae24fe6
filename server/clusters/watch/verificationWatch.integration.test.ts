import { afterAll, beforeAll, expect, it } from "vitest";
import type { PromiseReport } from "@/server/contracts/studio/promise";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { ApplyRunner } from "../apply/applyRunner";
import { planOnGpus } from "../testing/testCluster";
import { type ClusterOfPlans, clusterOfPlans } from "../testing/testWholePlans";
import { watchVerifications } from "./verificationWatch";

const old = planOnGpus("old", { "qwen2.5-3b": [0] });
const next = planOnGpus("new", { "qwen2.5-7b": [0] });

let cluster: ClusterOfPlans;
beforeAll(async () => {
  cluster = await clusterOfPlans([old, next], { gpus: 2, timeScale: 500 });
}, 60_000);
afterAll(() => cluster.stop());

const report = (measured: number): PromiseReport => ({
  ...{ planId: cluster.store.clusters.get("embedded")?.runningPlanId ?? "", atMs: 0, emulated: true, emulatedAsPlanned: true },
  ...{ requests: 400, failed: 0, windowSeconds: 300, notComparable: null, inputs: [], broken: [], simulating: false, notes: [] },
  promises: [
    {
      ...{
        quantity: "end-to-end",
        model: null,
        name: "p95 end to end",
        kind: "seconds",
        promised: 2,
        band: { low: 1.8, high: 2.2 },
        measured,
        interval: null,
      },
      ...{ verdict: measured > 2.2 ? "broken" : "kept", reason: "" },
    },
  ],
  drift: { windowSeconds: 60, last: null, driftedSince: null, says: null },
});

async function applied(plan: typeof old, rollBackOnRegression: boolean): Promise<StoredApplication> {
  const runner = cluster.newRunner();
  const started = await runner.start({ clusterId: "embedded", planId: plan.id, kind: "apply", actor: "a", rollBackOnRegression });
  if (!started.ok) throw new Error(started.message);
  const application = await cluster.ended(started.application.id);
  await runner.close();
  return application;
}

/** Watches like a studio that was just started, until something holds. */
async function watched(measured: number, holds: () => boolean, start?: ApplyRunner["start"]): Promise<void> {
  const runner = cluster.newRunner();
  const options = { runner: start === undefined ? runner : { start }, timeScaleOf: () => 500, everyMs: 20 };
  const reportOf = (_: string, sinceMs: number) => {
    expect(cluster.store.applications.verifying()).toContainEqual(expect.objectContaining({ verification: since(sinceMs) }));
    return report(measured);
  };
  const end = watchVerifications({ store: cluster.store, reportOf, ...options });
  while (!holds()) await new Promise((wake) => setTimeout(wake, 10));
  end();
  await runner.close();
}
const since = (fromMs: number) => expect.objectContaining({ fromMs });
const stateOf = (id: string) => cluster.store.applications.get(id)?.verification?.state;

it("goes on with the window that an earlier studio left open, and writes the verdict down", async () => {
  const { id } = await applied(next, false);
  expect(stateOf(id)).toBe("watching");
  await watched(2, () => stateOf(id) !== "watching");
  expect(cluster.store.applications.get(id)?.verification).toMatchObject({ state: "passed", checks: [{ measured: 2, promised: 2 }] });
  const [line] = cluster.store.audit.list(1);
  expect(line).toMatchObject({ actor: "studio", action: "verification passed", detail: expect.stringMatching(/2 s, promised 2 s/) });
  expect(cluster.store.journal.of(id).at(-1)?.detail).toMatch(/^Keeps its promises/);
});

it("leaves a plan that fails in force unless its rollback was asked for", async () => {
  const { id } = await applied(old, false);
  await watched(3, () => stateOf(id) !== "watching");
  expect(stateOf(id)).toBe("failed");
  expect(cluster.store.applications.list("embedded")[0]?.id).toBe(id);
  await cluster.expectWhole(old);
});

it("rolls a plan that fails back by itself where that was asked for, and only once", async () => {
  const { id } = await applied(next, true);
  await watched(
    3,
    () => cluster.store.applications.list("embedded")[0]?.verification?.state === "failed" && stateOf(id) === "failed" && ranBack(),
  );
  const [rollback] = cluster.store.applications.list("embedded");
  expect(rollback).toMatchObject({ kind: "rollback", planId: old.id, actor: "studio", state: "done", rollBackOnRegression: false });
  await cluster.expectWhole(old);
});

it("goes on trying to roll back while that is refused, also in the next studio, and says what it waits for", async () => {
  const { id } = await applied(next, true);
  const verification = () => cluster.store.applications.get(id)?.verification;
  let tries = 0;
  const silent: ApplyRunner["start"] = async () => {
    tries += 1;
    return { ok: false, message: "The gateway did not answer." };
  };
  await watched(3, () => tries > 2, silent);
  expect(verification()).toMatchObject({
    state: "failed",
    says: expect.stringMatching(/^Does not keep .* waits: The gateway did not answer\.$/),
  });
  expect(cluster.store.audit.list(20).filter(({ action }) => action === "rollback waits")).toHaveLength(1);
  expect(cluster.store.applications.list("embedded")[0]?.id).toBe(id);
  await watched(3, () => ranBack() && cluster.store.applications.list("embedded")[0]?.state === "done");
  expect(verification()?.rollBackDue).toBeUndefined();
  expect(verification()?.says).toMatch(/^Does not keep .*2 s\.$/);
  await cluster.expectWhole(old);
}, 30_000);

const ranBack = () => cluster.store.applications.list("embedded")[0]?.kind === "rollback";

import { afterAll, beforeAll, expect, it } from "vitest";
import { targetEngines } from "../steps/targetEngines";
import { planOnGpus } from "../testing/testCluster";
import { type ClusterOfPlans, clusterOfPlans } from "../testing/testWholePlans";
import type { RegressionLook } from "../verification/regression";

const old = planOnGpus("old", { "qwen2.5-3b": [0, 1] });
/** Two engines one after the other on the same GPUs: long enough to be halted in between. */
const next = planOnGpus("new", { "qwen2.5-7b": [0, 1] });

let cluster: ClusterOfPlans;
beforeAll(async () => {
  cluster = await clusterOfPlans([old, next], { gpus: 2, timeScale: 500 });
}, 60_000);
afterAll(() => cluster.stop());

/**
 * Both plans' engines, all healthy: with looks of ten seconds, a busy machine's few seconds would otherwise count as engines that are
 * missing for long.
 */
const engines = [old, next].flatMap((plan) => targetEngines(plan).map(({ id }) => ({ id, health: "serving" as const })));

/** Traffic that fails from the second look on, reported as if looks were ten seconds apart. */
function failingTraffic(): () => RegressionLook {
  let looks = 0;
  return () => {
    looks += 1;
    const failed = looks > 1 ? 200 : 0;
    return {
      ...{ atMs: 10_000 * looks, timeScale: 1, gatewayAnswers: true, engines, latency: null, promisedSeconds: null },
      ended: { answered: 1000, failed, shed: 0 },
    };
  };
}

/** With two looks in the grace period the third halts it, a second or two before its steps have ended. */
async function applied(rollBackOnRegression: boolean, watchOf: () => RegressionLook | null = failingTraffic()) {
  const runner = cluster.newRunner({ graceMs: 2300, watchOf });
  const order = { clusterId: "embedded", planId: next.id, kind: "apply", actor: "a", rollBackOnRegression } as const;
  const started = await runner.start(order);
  if (!started.ok) throw new Error(started.message);
  return { runner, id: started.application.id };
}

const saidOf = (id: string) =>
  cluster.store.journal.of(id).flatMap(({ event, stepId, detail }) => (event === "said" && stepId === null ? detail : []));

it("is undone by itself where that was asked for, and says why", async () => {
  const { runner, id } = await applied(true);
  const application = await cluster.ended(id);
  await runner.close();
  expect(application).toMatchObject({ state: "rolled-back", undoing: true, halt: { because: "health" } });
  expect(application.error).toMatch(/^17 % of the requests fail/);
  expect(saidOf(id)).toContainEqual(expect.stringMatching(/^Undone by itself: 17 %/));
  expect(cluster.store.audit.list(5)).toContainEqual(expect.objectContaining({ actor: "studio", action: "halt" }));
  await cluster.expectWhole(old);
}, 30_000);

it("is undone by itself where a step fails, if that was asked for", async () => {
  const { runner, id } = await applied(true, () => null);
  const [engine] = targetEngines(next);
  const headers = { authorization: `Bearer ${cluster.token}` };
  const begun = () => cluster.store.applications.get(id)?.steps.some(({ kind, state }) => kind === "start" && state === "done");
  while (!begun()) await new Promise((wake) => setTimeout(wake, 5));
  await fetch(`${cluster.emulatorUrl}/engines/${engine?.id}?graceSeconds=0`, { method: "DELETE", headers });
  const application = await cluster.ended(id);
  await runner.close();
  expect(application).toMatchObject({ state: "rolled-back", halt: { because: "step" } });
  expect(application.error).toMatch(/^Verify .* is gone/);
  await cluster.expectWhole(old);
}, 30_000);

it("is paused with a sentence, and goes on to the whole plan when it is resumed", async () => {
  const { runner, id } = await applied(false);
  const begun = () => ["grace", "running"].includes(cluster.store.applications.get(id)?.state ?? "");
  while (begun()) await new Promise((wake) => setTimeout(wake, 10));
  expect(cluster.store.applications.get(id)).toMatchObject({ state: "paused", error: null });
  expect(cluster.store.applications.get(id)).toMatchObject({
    halt: { because: "health", sentence: expect.stringMatching(/^17 %.* s\.$/) },
  });
  expect(runner.resume(id, "a")).toMatchObject({ ok: true, application: { halt: null } });
  const application = await cluster.ended(id);
  await runner.close();
  expect(application).toMatchObject({ state: "done", error: null, halt: null });
  expect(saidOf(id).filter((line) => /^(Halted|Resumed)/.test(line))).toEqual([expect.stringMatching(/^Halted: 17 %/), "Resumed."]);
  await cluster.expectWhole(next);
}, 30_000);

it("is brought back to the plan before when a studio was killed in its first step and the next is told to abort", async () => {
  const { connector } = cluster;
  await cluster.apply(old);
  // The gateway has carried out the step, but the caller got no answer.
  const applyStep: typeof connector.applyStep = async (action, options) => {
    const acted = await connector.applyStep(action, options);
    await new Promise((wake) => options.signal.addEventListener("abort", wake));
    return acted;
  };
  const first = cluster.newRunner({ connectorOf: () => ({ ...connector, applyStep }) });
  const started = await first.start({ clusterId: "embedded", planId: next.id, kind: "apply", actor: "a" });
  if (!started.ok) throw new Error(started.message);
  const { id } = started.application;
  const [left] = targetEngines(old);
  const isDrained = async () => {
    const observed = await connector.observe();
    return observed.ok && !observed.value.routing.active.includes(left?.id ?? "");
  };
  while (!(await isDrained())) await new Promise((wake) => setTimeout(wake, 5));
  first.pause(id, "a");
  await first.close();
  const second = cluster.newRunner();
  second.resumeAll();
  while (!saidOf(id).some((line) => line.startsWith("Planned again"))) await new Promise((wake) => setTimeout(wake, 5));
  expect(second.abort(id, "a")).toMatchObject({ ok: true });
  expect(await cluster.ended(id)).toMatchObject({ state: "rolled-back", error: null });
  await second.close();
  await cluster.expectWhole(old);
}, 30_000);

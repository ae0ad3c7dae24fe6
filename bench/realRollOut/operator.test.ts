import { expect, it } from "vitest";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StoredStep } from "@/server/store/documents/storedStep";
import { isAt } from "./moments";
import { type OperatedScene, Operator } from "./operator";

const startedMs = Date.now();

/** A scene with one application, which a test changes, and one engine. */
function fakeScene() {
  const scene = {
    steps: [] as Pick<StoredStep, "kind" | "state">[],
    hasEnded: false,
    engineAtMs: null as number | null,
    healthy: false,
  };
  const application = (): StoredApplication =>
    ({
      ...{ id: "1", state: scene.hasEnded ? "done" : "running", startedAt: new Date(startedMs).toISOString() },
      ...{ endedAt: scene.hasEnded ? new Date().toISOString() : null, steps: scene.steps, halt: null },
    }) as unknown as StoredApplication;
  const operated: OperatedScene = {
    get latest() {
      return application();
    },
    application,
    order: () => undefined,
    begunEngine: () => (scene.engineAtMs === null ? null : { atMs: scene.engineAtMs, url: "http://127.0.0.1:1" }),
    isHealthy: async () => scene.healthy,
  };
  return { scene, operator: new Operator(operated, AbortSignal.timeout(10_000)) };
}

it("a wait for a step ends while it runs, and the point then is that step", async () => {
  const { scene, operator } = fakeScene();
  scene.steps = [
    { kind: "verify", state: "running" },
    { kind: "switch-policy", state: "waiting" },
  ];
  const reached = operator.untilStep("1", "switch-policy").then(() => operator.point("1", null));
  setTimeout(() => {
    scene.steps = [
      { kind: "verify", state: "done" },
      { kind: "switch-policy", state: "running" },
    ];
  }, 50);
  expect(await reached).toEqual({ application: "running", step: "switch-policy", stepState: "running" });
});

it("a wait for a step that has passed ends, and the point then is not that step's moment", async () => {
  const { scene, operator } = fakeScene();
  scene.steps = [
    { kind: "drain", state: "done" },
    { kind: "start", state: "running" },
  ];
  await operator.untilStep("1", "drain");
  expect(isAt("while the old engine drains", await operator.point("1", null))).toBe(false);
});

it("a wait for a loading engine lasts its seconds from the engine's own start, whichever step runs", async () => {
  const { scene, operator } = fakeScene();
  scene.steps = [{ kind: "start", state: "running" }];
  const waiting = operator.untilLoading("1", "small", 0.2).then(() => Date.now());
  setTimeout(() => {
    scene.engineAtMs = Date.now();
  }, 60);
  const endedMs = await waiting;
  expect(endedMs - (scene.engineAtMs ?? endedMs)).toBeGreaterThanOrEqual(200);
  expect(isAt("while the new engine loads", await operator.point("1", "small"))).toBe(true);
});

it("a wait for a loading engine that is healthy by then leads to a point at which it does not load", async () => {
  const { scene, operator } = fakeScene();
  scene.steps = [{ kind: "start", state: "running" }];
  scene.engineAtMs = Date.now();
  scene.healthy = true;
  await operator.untilLoading("1", "small", 0.05);
  expect(await operator.point("1", "small")).toMatchObject({ step: "start", newEngine: "healthy" });
});

it("a wait for a loading engine ends with the roll-out, and takes no engine that an earlier roll-out started", async () => {
  const { scene, operator } = fakeScene();
  scene.engineAtMs = startedMs - 60_000;
  const waiting = operator.untilLoading("1", "small", 0.01);
  const isOver = await Promise.race([waiting.then(() => true), new Promise((resolve) => setTimeout(() => resolve(false), 100))]);
  expect(isOver).toBe(false);
  expect(await operator.point("1", "small")).toMatchObject({ newEngine: "absent" });
  scene.hasEnded = true;
  await waiting;
});

it("measures the load time of an engine up to its first healthy answer", async () => {
  const { scene, operator } = fakeScene();
  scene.engineAtMs = Date.now();
  const measured = operator.loadSeconds("1", "small");
  setTimeout(() => {
    scene.healthy = true;
  }, 150);
  expect(await measured).toBeGreaterThanOrEqual(0.15);
  expect(await measured).toBeLessThan(5);
  scene.engineAtMs = null;
  scene.hasEnded = true;
  expect(await operator.loadSeconds("1", "small")).toBeNull();
});

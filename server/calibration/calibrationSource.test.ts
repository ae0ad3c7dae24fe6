import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Observation } from "@/server/clusters/connector/connector";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { LiveFrame } from "@/server/contracts/studio";
import { type ConnectedCluster, embeddedClusterId } from "@/server/fleet/fleet";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore, type Store } from "@/server/store/store";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createCalibrationSource } from "./calibrationSource";

let folder: string;
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-calibration-source-"));
  store = openStore(folder);
  const spec = { name: "here", gpu: "l40s", nodes: [{ name: "n1", gpus: 2 }], usdPerGpuHour: 1 };
  store.clusters.insert({ ...spec, id: embeddedClusterId, kind: "embedded" }, new Date(0).toISOString());
  store.plans.keep(plan);
  store.clusters.setRunning(embeddedClusterId, { planId: plan.id, since: new Date(0).toISOString() });
  const heardFor = { model: "small", type: "vllm", sinceMs: 3, resetsMs: [4] };
  store.identities.put(embeddedClusterId, order.id, { ...heardFor, version: "0.30.0" });
  store.identities.put(embeddedClusterId, "b", { ...heardFor, version: "0.29.0" });
  store.clusters.insert({ ...spec, id: "drawn", kind: "described" }, new Date(0).toISOString());
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const draft = examplePlanDraft();
const [first] = draft.deployment;
if (first === undefined) throw new Error("no deployment");
/** Deployed in another precision than its card has. */
const plan = sealPlan({ ...draft, deployment: [{ ...first, precision: "fp8" }] }, new Date(0));
const [order] = targetEngines(plan) as [ReturnType<typeof targetEngines>[number]];

const engine = { type: "vllm", version: "0.30.0" };
const heard = [
  { id: order.id, model: "small", engine, events: [] },
  { id: "b", model: "small", engine, events: [] },
  { id: "c", model: "small", engine: null, events: [] },
];

/** A cluster whose newest frame and whose own word are as given. */
function sourceOf(frames: readonly unknown[], observed: Awaited<ReturnType<ConnectedCluster["connector"]["observe"]>>) {
  const cluster = {
    connector: { emulated: true, observe: async () => observed },
    collector: () => ({ frames: () => frames as readonly LiveFrame[] }),
    series: createSeriesBook({ clusterId: embeddedClusterId, repository: store.rollUps }),
    timeScale: () => 20,
  } as unknown as ConnectedCluster;
  return createCalibrationSource({ clusterOf: (id) => (id === embeddedClusterId ? cluster : null), store });
}
const standing = {
  ok: true,
  value: { engines: [order.id, "b"].map((id) => ({ id, gpu: "l40s", tp: 2, pp: 1 })) } as unknown as Observation,
} as const;

it("knows engines by their telemetry, their shapes by who runs them, their precision by the plan, and since when they are what they are", async () => {
  const found = await sourceOf([{ atMs: 9, engines: heard }], standing)(embeddedClusterId);
  expect(found).toMatchObject({
    ok: true,
    cluster: {
      name: "here",
      emulated: true,
      timeScale: 20,
      engines: [
        { id: order.id, engine, deployed: { gpu: "l40s", tp: 2, pp: 1, precision: "fp8" }, knownSinceMs: 3, resetsMs: [4] },
        { id: "b", engine, deployed: null, knownSinceMs: 9, resetsMs: [] },
        { id: "c", engine: null, deployed: null, knownSinceMs: 9, resetsMs: [] },
      ],
    },
  });
});

it("says what is in the way: no such cluster, one that is only described, one not heard yet, one that does not answer", async () => {
  const source = sourceOf([{ engines: heard }], standing);
  for (const id of ["nowhere", "drawn"])
    expect(await source(id)).toMatchObject({ ok: false, message: expect.stringContaining("not connected") });
  expect(await sourceOf([], standing)(embeddedClusterId)).toMatchObject({
    ok: false,
    message: expect.stringContaining("Nothing was heard"),
  });
  const silent = { ok: false, message: "The emulator does not answer." } as const;
  expect(await sourceOf([{ engines: heard }], silent)(embeddedClusterId)).toEqual(silent);
});

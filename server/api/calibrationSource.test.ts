import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Observation } from "@/server/clusters/connector";
import { embeddedClusterId } from "@/server/clusters/embeddedCluster";
import type { LiveFrame, TargetEvent } from "@/server/contracts/studio";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore, type Store } from "@/server/store/store";
import { type CalibrationSourceParts, createCalibrationSource } from "./calibrationSource";

let folder: string;
let store: Store;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-calibration-source-"));
  store = openStore(folder);
  const spec = { name: "here", gpu: "l40s", nodes: [{ name: "n1", gpus: 2 }], usdPerGpuHour: 1 };
  store.clusters.insert({ ...spec, id: embeddedClusterId, kind: "embedded" }, new Date(0).toISOString());
  store.clusters.insert({ ...spec, id: "drawn", kind: "described" }, new Date(0).toISOString());
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const event = (kind: TargetEvent["kind"], atMs: number): TargetEvent => ({ kind, atMs, text: "" });
const engine = { type: "vllm", version: "0.30.0" };
const heard = [
  { id: "a", model: "m", engine, events: [event("version-changed", 1), event("counters-reset", 2), event("version-changed", 3)] },
  { id: "b", model: "m", engine: null, events: [] },
];

/** A cluster whose newest frame and whose own word are as given. */
function sourceOf(frames: readonly unknown[], observed: Awaited<ReturnType<CalibrationSourceParts["embedded"]["connector"]["observe"]>>) {
  const embedded = {
    connector: { emulated: true, observe: async () => observed },
    collector: () => ({ frames: () => frames as readonly LiveFrame[] }),
    timeScale: () => 20,
  } as unknown as CalibrationSourceParts["embedded"];
  const series = createSeriesBook({ clusterId: embeddedClusterId, repository: store.rollUps });
  return createCalibrationSource({ embedded, series, store });
}
const standing = { ok: true, value: { engines: [{ id: "a", gpu: "l40s", tp: 2, pp: 1 }] } as unknown as Observation } as const;

it("knows engines by their telemetry and their shapes by who deployed them, and what they were since when", async () => {
  const found = await sourceOf([{ engines: heard }], standing)(embeddedClusterId);
  expect(found).toMatchObject({
    ok: true,
    cluster: {
      name: "here",
      emulated: true,
      timeScale: 20,
      engines: [
        { id: "a", engine, deployed: { gpu: "l40s", tp: 2, pp: 1 }, changedMs: 3, resetsMs: [2] },
        { id: "b", engine: null, deployed: null, changedMs: null, resetsMs: [] },
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

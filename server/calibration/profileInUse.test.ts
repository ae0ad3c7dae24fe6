import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connectionSchema } from "@/server/processes/processConnection";
import { openStore, type Store } from "@/server/store/store";
import { isMeasured } from "@/solver/hardware/engineProfile";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { profileForCluster, profileInUse } from "./profileInUse";
import { planWithMeasured, testMeasured } from "./testing/testMeasured";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-profile-in-use-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const now = new Date(0).toISOString();
const measured = (engine: string, gpu: string): MeasuredEngine => testMeasured({ engine, model: "arith-small", gpu });
const plansWith = (...engines: readonly MeasuredEngine[]): void => planWithMeasured(store, engines);

/** A cluster of this host's cores whose engines are started by a built-in command line. */
function attach(engine: "vllm" | "weir"): void {
  const spec = { id: engine, name: engine, gpu: "cpu-core", nodes: [{ name: "n1", gpus: 2 }], usdPerGpuHour: 0 };
  const connection = connectionSchema.parse({ kind: "processes", engine, models: { "arith-small": { source: "/m" } } });
  store.clusters.insert({ ...spec, kind: "processes" }, now, { connection, gateway: null });
}

const engines = (clusterId: string) => {
  const profile = profileForCluster(store, clusterId);
  return isMeasured(profile) ? profile.engines.map(({ engine, gpu, standsInFor = null }) => [engine, gpu, standsInFor]) : null;
};

it("gives two clusters on one card and one model each the measurement of its own engine software", () => {
  plansWith(measured("vllm", "cpu-core"), measured("weir-engine", "cpu-core"));
  attach("vllm");
  attach("weir");
  expect(engines("vllm")).toEqual([["vllm", "cpu-core", null]]);
  expect(engines("weir")).toEqual([["weir-engine", "cpu-core", null]]);
  expect(profileForCluster(store, "nowhere")).toEqual(profileInUse(store));
});

it("marks a measurement of another software that a cluster must do with, and leaves those on other GPUs as they are", () => {
  plansWith(measured("weir-engine", "cpu-core"), measured("sglang", "l40s"));
  attach("vllm");
  expect(engines("vllm")).toEqual([
    ["weir-engine", "cpu-core", "vllm"],
    ["sglang", "l40s", null],
  ]);
});

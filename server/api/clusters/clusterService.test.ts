import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { openStore, type Store } from "@/server/store/store";
import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import { clusterDescriptionSchema } from "../base/inputs";
import { createCardService } from "../hardware/cardService";
import { type ClusterService, createClusterService } from "./clusterService";

const h100 = { nodes: 2, gpusPerNode: 8, gpu: "h100-sxm", usdPerGpuHour: 3 };
const l40s = { nodes: 3, gpusPerNode: 4, gpu: "l40s", usdPerGpuHour: 0.8 };

const h20 = {
  id: "h20",
  name: "NVIDIA H20",
  memoryBytes: 96e9,
  memoryBytesPerSecond: 4e12,
  denseFlopsBf16: 148e12,
  denseFlopsFp8: 296e12,
  link: "nvlink",
  linkBytesPerSecond: 450e9,
  pcieBytesPerSecond: 64e9,
  powerWatts: null,
  efficienciesOf: "h100-sxm",
  source: "data sheet",
} as const;

describe("described clusters", () => {
  let folder: string;
  let store: Store;
  let clusters: ClusterService;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-clusters-"));
    store = openStore(folder);
    const nothing = () => null;
    const fleet = { get: nothing, problem: nothing };
    clusters = createClusterService({ store, fleet, drifts: { drift: nothing, gateway: nothing }, cards: createCardStore(folder) });
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  const specOf = (name: string) => store.clusters.list().find(({ spec }) => spec.name === name)!.spec;

  it("have nodes of several GPU types side by side, each type at its price", () => {
    expect(clusters.describe({ name: "mixed", rows: [h100, l40s, { ...h100, nodes: 1, gpusPerNode: 4 }] }, "ada").ok).toBe(true);
    const spec = specOf("mixed");
    expect(spec.nodes.map(({ name }) => name)).toEqual(["node1", "node2", "node3", "node4", "node5", "node6"]);
    expect(gpuTypes(spec)).toEqual(["h100-sxm", "l40s"]);
    expect([gpuCount(spec, "h100-sxm"), gpuCount(spec, "l40s")]).toEqual([20, 12]);
    expect(gpuPrices(spec)).toEqual({ "h100-sxm": 3, l40s: 0.8 });
    expect(store.audit.list(1)[0]).toMatchObject({ subject: "mixed", detail: "2 x 8 h100-sxm, 3 x 4 l40s, 1 x 4 h100-sxm" });
  });

  it("of one GPU type say nothing of types", () => {
    clusters.describe({ name: "plain", rows: [h100] }, "ada");
    const { id: _, ...spec } = specOf("plain");
    const nodes = [1, 2].map((index) => ({ name: `node${index}`, gpus: 8 }));
    expect(spec).toEqual({ name: "plain", kind: "described", gpu: "h100-sxm", nodes, usdPerGpuHour: 3 });
  });

  it("are refused with an unknown GPU type in any row", () => {
    const answer = clusters.describe({ name: "odd", rows: [h100, { ...l40s, gpu: "abacus" }] }, "ada");
    expect(answer).toMatchObject({ ok: false, message: expect.stringContaining('no card of a GPU "abacus"') });
    expect(store.clusters.list()).toEqual([]);
  });

  it("are refused with two prices of one type, or with too many nodes in all", () => {
    const said = (rows: readonly object[]) => clusterDescriptionSchema.safeParse({ name: "x", rows }).error?.issues[0]?.message;
    expect(said([h100, { ...h100, usdPerGpuHour: 4 }])).toBe("give GPUs of one type one price");
    expect(said([h100, { ...l40s, nodes: 127 }])).toBe("give at most 128 nodes");
    expect(said([])).toBe("give at least one row of nodes");
  });

  it("keep the cards of every GPU type they have", () => {
    const cards = createCardService(store, createCardStore(folder));
    expect(cards.addGpu(h20, "ada").ok).toBe(true);
    expect(clusters.describe({ name: "mixed", rows: [h100, { ...l40s, gpu: "h20" }] }, "ada").ok).toBe(true);
    expect(cards.remove("gpu", "h20", "ada")).toMatchObject({ ok: false, message: expect.stringContaining('the cluster "mixed"') });
  });
});

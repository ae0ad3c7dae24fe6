import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { Observation } from "@/server/clusters/connector/connector";
import { openStore, type Store } from "@/server/store/store";
import { cardOf } from "@/solver/hardware/catalogue";
import { gpuCount, gpuPrices } from "@/solver/plan/clusterGpus";
import { embeddedClusterId } from "./fleet";
import { observedHardware } from "./observedHardware";
import { saveEmbeddedObservation, saveObservation } from "./saveObservation";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-put-down-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const seen = (gpu: string, nodes: Observation["nodes"]) => ({ gpu, nodes }) as Observation;
const cards = () => createCardStore(folder);
const cardPrice = (gpu: string) => cardOf(cards().read().catalogue.gpus, gpu)?.usdPerGpuHour;
const spec = { id: "c", name: "paris", kind: "kubernetes", gpu: "l40s", nodes: [{ name: "n1", gpus: 4 }], usdPerGpuHour: 0.5 } as const;

it("brings a cluster's hardware up to date, and leaves its name and its prices as they are", () => {
  store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, "t");
  const nodes = [
    { name: "n1", gpus: 8, othersGpus: 2 },
    { name: "n2", gpus: 2, gpu: "h100-sxm", closed: "is cordoned" },
    { name: "n3", gpus: 4, processor: { programs: 2 } },
    { name: "cpu", gpus: 0 },
  ];
  saveObservation({ store, cards: cards() }, "c", seen("l40s", nodes));
  expect(store.clusters.get("c")?.spec).toEqual({
    ...{ id: "c", name: "paris", kind: "kubernetes", gpu: "l40s", usdPerGpuHour: 0.5 },
    nodes: [
      { name: "n1", gpus: 8 },
      { name: "n2", gpus: 2, gpu: "h100-sxm" },
      { name: "n3", gpus: 4, processor: { programs: 2 } },
    ],
    otherUsdPerGpuHour: { "h100-sxm": cardPrice("h100-sxm") },
  });
});

it("takes the card's price where none was known, and no other for what there is no card of", () => {
  store.clusters.insert({ ...spec, nodes: [...spec.nodes], usdPerGpuHour: 0 }, "t");
  saveObservation({ store, cards: cards() }, "c", seen("l40s", [{ name: "n1", gpus: 4 }]));
  expect(store.clusters.get("c")?.spec.usdPerGpuHour).toBe(cardPrice("l40s"));
  saveObservation({ store, cards: cards() }, "c", seen("abacus", [{ name: "n1", gpus: 4 }]));
  expect(store.clusters.get("c")?.spec).toMatchObject({ gpu: "abacus", usdPerGpuHour: 0 });
});

it("keeps what it knew where no GPU was seen, and puts down nothing of a cluster that is gone", () => {
  store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, "t");
  saveObservation({ store, cards: cards() }, "c", seen("", []));
  expect(store.clusters.get("c")?.spec).toEqual(spec);
  saveObservation({ store, cards: cards() }, "gone", seen("l40s", [{ name: "n1", gpus: 1 }]));
  expect(store.clusters.get("gone")).toBeNull();
});

it("makes the embedded cluster at its first look, at the price of the cards, also of one that was changed since", () => {
  const nodes = [{ name: "node1", gpus: 4 }];
  saveEmbeddedObservation({ store, cards: cards() }, null, seen("l40s", nodes));
  expect(store.clusters.get(embeddedClusterId)?.spec).toMatchObject({ kind: "embedded", nodes, usdPerGpuHour: cardPrice("l40s") });
  store.clusters.respecify({ ...spec, id: embeddedClusterId, kind: "embedded", nodes, usdPerGpuHour: 77 });
  saveEmbeddedObservation({ store, cards: cards() }, null, seen("l40s", nodes));
  expect(store.clusters.get(embeddedClusterId)?.spec.usdPerGpuHour).toBe(cardPrice("l40s"));
});

it("counts every GPU that was seen once, each type at its price", () => {
  const types = ["l40s", "h100-sxm", "a100-sxm-80gb"] as const;
  const node = fc.record({ gpus: fc.nat(8), gpu: fc.option(fc.constantFrom(...types), { nil: undefined }) });
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.array(node, { maxLength: 12 }), (gpu, drawn) => {
      const nodes = drawn.map(({ gpu: own, gpus }, index) => ({ name: `n${index}`, gpus, ...(own === undefined ? {} : { gpu: own }) }));
      const hardware = observedHardware({ gpu, nodes }, (type) => types.indexOf(type as (typeof types)[number]) + 1);
      const total = nodes.reduce((sum, { gpus }) => sum + gpus, 0);
      if (hardware === null) {
        expect(total).toBe(0);
        return;
      }
      const cluster = { ...spec, ...hardware };
      expect(gpuCount(cluster)).toBe(total);
      for (const [type, price] of Object.entries(gpuPrices(cluster))) expect(price).toBe(types.indexOf(type as (typeof types)[number]) + 1);
    }),
  );
});

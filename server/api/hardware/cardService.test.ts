import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { readUserCards } from "@/solver/hardware/catalogue";
import { priceSchema } from "../base/inputs";
import { type CardService, createCardService } from "./cardService";

const config = JSON.stringify({
  model_type: "qwen2",
  _name_or_path: "our/Helpdesk-7B",
  hidden_size: 3584,
  intermediate_size: 18944,
  max_position_embeddings: 32768,
  num_attention_heads: 28,
  num_hidden_layers: 28,
  num_key_value_heads: 4,
  vocab_size: 152064,
});

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

describe("cards", () => {
  let folder: string;
  let file: string;
  let store: Store;
  let cards: CardService;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-cards-"));
    file = join(folder, "cards.json");
    store = openStore(folder);
    cards = createCardService(store, createCardStore(folder));
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  const readOf = (text: string) => {
    const read = cards.readModel(text);
    if (!read.ok) throw new Error(read.message);
    return read.model;
  };
  const messageOf = (outcome: { readonly ok: boolean; readonly message?: string }) => (outcome.ok ? "done" : outcome.message);
  const model = (id: string) => cards.list().models.find((card) => card.id === id);
  const gpu = (id: string) => cards.list().gpus.find((card) => card.id === id);

  it("reads a pasted configuration without keeping it, and keeps it when it is added, over a restart too", () => {
    const read = readOf(config);
    expect(read).toMatchObject({ id: "helpdesk-7b", huggingFace: "our/Helpdesk-7B", precision: "bf16", maxContextTokens: 32768 });
    expect(existsSync(file)).toBe(false);
    expect(cards.addModel(read, "ann")).toEqual({ ok: true });
    expect(model("helpdesk-7b")).toMatchObject({ own: true, paramsB: expect.closeTo(7.6, 1) });
    expect(model("llama-3.1-8b")).toMatchObject({ own: false });
    expect(store.audit.list(5)[0]).toMatchObject({ actor: "ann", action: "add model card", subject: "helpdesk-7b" });
    const afterwards = createCardService(store, createCardStore(folder));
    expect(afterwards.list()).toEqual(cards.list());
  });

  it("takes a card as the file holds it, and says what is wrong with one that is none", () => {
    const read = readOf(config);
    expect(readOf(JSON.stringify(read))).toEqual(read);
    expect(messageOf(cards.readModel(JSON.stringify({ ...read, precision: "fp7" })))).toMatch(/^precision: /);
    expect(messageOf(cards.readModel("{"))).toMatch(/^Not valid JSON: /);
    expect(messageOf(cards.readModel('{"model_type":"rwkv"}'))).toContain('"rwkv" is not supported');
  });

  it("gives no two cards the same id", () => {
    const read = readOf(config);
    cards.addModel(read, "ann");
    expect(messageOf(cards.addModel(read, "ann"))).toBe('There is a model "helpdesk-7b" already: give another id.');
    expect(messageOf(cards.addModel({ ...read, id: "llama-3.1-8b" }, "ann"))).toContain("already");
    expect(messageOf(cards.addGpu({ ...h20, id: "h100-sxm" }, "ann"))).toContain("already");
  });

  it("sets a price with today's date, and takes the list price again", () => {
    const listed = gpu("h100-sxm");
    cards.setPrice("h100-sxm", 1.95, "ann");
    expect(gpu("h100-sxm")).toMatchObject({ usdPerGpuHour: 1.95, ownPrice: true, price: { asOf: new Date().toISOString().slice(0, 10) } });
    cards.setPrice("h100-sxm", null, "ann");
    expect(gpu("h100-sxm")).toEqual(listed);
    expect(messageOf(cards.setPrice("h2", 1, "ann"))).toBe('There is no GPU "h2".');
  });

  it("takes no price of 0: nothing is for free, and none known is none", () => {
    const refusal = priceSchema.safeParse({ gpu: "h100-sxm", usdPerGpuHour: 0 }).error?.issues[0];
    expect(refusal).toMatchObject({ path: ["usdPerGpuHour"], message: "give a price above 0" });
    expect(readUserCards('{"prices": {"l4": {"usdPerGpuHour": 0, "asOf": "2026-11-01"}}}', "cards.json")).toEqual({
      ok: false,
      message: "cards.json: prices.l4.usdPerGpuHour: give a price above 0.",
    });
  });

  it("removes a user's card with its price, and no shipped one", () => {
    cards.addGpu(h20, "ann");
    cards.setPrice("h20", 2, "ann");
    expect(cards.remove("gpu", "h20", "ann")).toEqual({ ok: true });
    expect(gpu("h20")).toBeUndefined();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ models: [], gpus: [], prices: {} });
    expect(messageOf(cards.remove("gpu", "h100-sxm", "ann"))).toBe('There is no GPU "h100-sxm" of your own.');
  });

  it("keeps a card that a workload or a cluster names", () => {
    cards.addModel(readOf(config), "ann");
    cards.addGpu(h20, "ann");
    const summary = { id: "w", createdAt: "", name: "tickets", models: [{ model: "helpdesk-7b" }] } as unknown as WorkloadSummary;
    store.workloads.insert(summary, Buffer.from([]));
    const cluster = { id: "c", name: "prod", kind: "described" as const, gpu: "h20", nodes: [{ name: "n", gpus: 8 }], usdPerGpuHour: 2 };
    store.clusters.insert(cluster, "2026-01-01T00:00:00.000Z");
    expect(messageOf(cards.remove("model", "helpdesk-7b", "ann"))).toContain('the workload "tickets"');
    expect(messageOf(cards.remove("gpu", "h20", "ann"))).toContain('the cluster "prod"');
  });

  it("does without a broken file, says what is wrong with it, and never overwrites it", () => {
    const broken = '{"models": [{"id": "x"}]}';
    writeFileSync(file, broken);
    expect(cards.list().problem).toMatch(/cards\.json: models\.0\./);
    expect(model("llama-3.1-8b")).toBeDefined();
    expect(messageOf(cards.setPrice("h100-sxm", 1, "ann"))).toMatch(/cards\.json: models\.0\..*Mend or remove the file first\.$/);
    expect(readFileSync(file, "utf8")).toBe(broken);
    expect(store.audit.list(5)).toEqual([]);
    writeFileSync(file, JSON.stringify({ gpus: [h20] }));
    expect(cards.list().problem).toBeNull();
    expect(gpu("h20")).toMatchObject({ own: true, usdPerGpuHour: null });
  });
});

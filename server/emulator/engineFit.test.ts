import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { catalogueIn } from "@/server/contracts/engine/cardsFile";
import { modelCards } from "@/solver/hardware/models";
import { engineFit } from "./engineFit";
import { readSettings } from "./settings";

const folder = mkdtempSync(join(tmpdir(), "weir-fit-"));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (cards: unknown) => writeFileSync(join(folder, "cards.json"), JSON.stringify(cards));
const { paramsB: _, provenance, ...shipped } = modelCards["gemma-2-2b"]!;
const model = { ...shipped, id: "our-small", source: provenance.source };
const gpu = {
  id: "our-gpu",
  name: "Our GPU",
  memoryBytes: 48e9,
  memoryBytesPerSecond: 1e12,
  denseFlopsBf16: 200e12,
  link: "pcie",
  linkBytesPerSecond: 32e9,
  pcieBytesPerSecond: 32e9,
  efficienciesOf: "l40s",
  source: "data sheet",
};
const embedded = { gpu: "our-gpu", nodes: [{ name: "n1", gpus: 1 }] };
const request = { id: "e1", model: "our-small", gpu: "our-gpu", tp: 1, pp: 1, placements: [{ node: "n1", gpus: [0] }] };
const settings = () => readSettings({ WEIR_STATE_DIR: folder, WEIR_ADMIN_TOKEN: "t", WEIR_EMBEDDED: JSON.stringify(embedded) });

describe("an emulated cluster with cards of the user's own", () => {
  it("emulates a user's GPU and runs a user's model on it, as the file in the state directory describes them", () => {
    write({ models: [model], gpus: [gpu] });
    expect(settings()).toMatchObject({ ok: true, settings: { gpu: { id: "our-gpu", memoryBytes: 48e9 } } });
    const fit = engineFit(embedded, request, catalogueIn(folder).catalogue);
    expect(fit).toMatchObject({ ok: true, maxModelTokens: model.maxContextTokens });
  });

  it("names the file and field where its cards are needed and cannot be read", () => {
    write({ models: [model], gpus: [{ ...gpu, memoryBytes: "48 GB" }] });
    const read = settings();
    expect(read.ok ? "" : read.message).toMatch(/names the GPU "our-gpu".*cards\.json: gpus\.0\.memoryBytes: /);
    expect(engineFit(embedded, request, catalogueIn(folder).catalogue)).toEqual({
      ok: false,
      message: 'There is no model card "our-small".',
    });
  });
});

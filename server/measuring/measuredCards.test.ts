import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { InspectedEngine } from "./inspectEngine";
import { measuredCards } from "./measuredCards";

const config = JSON.parse(readFileSync("models/arith-small/config.json", "utf8"));
const cards = { userCards: noUserCards, catalogue: catalogueOf(noUserCards) };

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "weir-cards-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const filed = (url: string, folder: string) => {
  const counters = { engine: null, running: null, waiting: null, answered: null, promptTokens: null, kvTokens: null };
  const limits = { contextTokens: 256, maxSequences: null, maxBatchedTokens: null, counters };
  const inspected: InspectedEngine = { engine: "vllm", emulated: false, version: null, served: "mine", root: folder, ...limits };
  return measuredCards(inspected, { url, gpu: undefined }, cards);
};

test("the configuration in the folder of an engine on this host becomes a card", async () => {
  writeFileSync(join(root, "config.json"), JSON.stringify(config));
  for (const url of ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000/v2"])
    expect(await filed(url, root)).toMatchObject({ ok: true, model: "mine", cards: { models: [{ id: "mine" }] } });
});

test("an engine on another host chooses no file of this one", async () => {
  writeFileSync(join(root, "config.json"), JSON.stringify(config));
  for (const url of ["http://10.0.0.4:8000", "http://localhost.example.com:8000", "https://127.0.0.1.example.com"])
    expect(await filed(url, root)).toEqual({ ok: false, message: expect.stringMatching(/^There is no model card of "mine"/) });
});

test("a relative folder, a file of more than 1 MB and what is no file are not read", async () => {
  const text = JSON.stringify(config);
  writeFileSync(join(root, "config.json"), text.padEnd(1_000_001));
  expect(await filed("http://127.0.0.1:8000", root)).toMatchObject({ ok: false });
  writeFileSync(join(root, "config.json"), text);
  expect(await filed("http://127.0.0.1:8000", relative(process.cwd(), root))).toMatchObject({ ok: false });
  rmSync(join(root, "config.json"));
  mkdirSync(join(root, "config.json"));
  expect(await filed("http://127.0.0.1:8000", root)).toMatchObject({ ok: false });
});

import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { isEngineThere, LARGE, SMALL } from "./connections";
import { chatBody, profiled } from "./questions";
import { orderOn, RealEngines } from "./realEngine";

const there = isEngineThere("llama").ok;

/** Processes that write a file below a folder. */
const writersBelow = (folder: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && targetOf(`/proc/${pid}/fd/2`).startsWith(folder));

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

it("starts the engines that a plan orders through the product's connection, with its judge, keeps those that the next plan has too, and ends all", {
  ...needs(condition("the add-on real-engine", there)),
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-bench-engines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const prepared = await prepareRealModels(join(folder, "models"), ["gguf"]);
  if (!prepared.ok) throw new Error(prepared.message);
  const own = join(folder, "engines", "llama");
  const engines = await RealEngines.open("llama", prepared.models, own);
  onTestFinished(() => engines.end());
  const [small, large] = [orderOn(SMALL, 0), orderOn(LARGE, 1)];
  const first = await engines.ensure([small, large]);
  expect(first.started.map(({ id }) => id)).toEqual([small.id, large.id]);
  for (const { command, cores, loadSeconds } of first.engines) {
    expect(command).toContain("--sequences");
    expect(cores).toMatch(/^\d/);
    expect(loadSeconds).toBeGreaterThan(0);
  }
  const judge = await engines.judge();
  const { models, judge: times } = await profiled(first.engines, judge, 16);
  expect(models.map(({ model, label }) => [model, label.length])).toEqual([
    [SMALL, 16],
    [LARGE, 16],
  ]);
  expect(times.meanSeconds).toBeGreaterThan(0);
  const second = await engines.ensure([large, orderOn(LARGE, 0)]);
  expect(second.started.map(({ id }) => id)).toEqual([orderOn(LARGE, 0).id]);
  expect(second.engines[0]?.url).toBe(first.engines[1]?.url);
  const body = chatBody(LARGE, { text: "1+1=?" } as Parameters<typeof chatBody>[1]);
  const headers = { "content-type": "application/json" };
  for (const { url } of second.engines)
    expect((await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).status).toBe(200);
  expect(writersBelow(own).length).toBe(4);
  await engines.end();
  await expect.poll(() => writersBelow(own), { timeout: 10_000 }).toEqual([]);
});

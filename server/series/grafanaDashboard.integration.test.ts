import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { needs } from "@/scripts/needs.mjs";
import { ask, post, TestEmulators } from "@/server/emulator/testEmulators";
import { startTestGateway } from "@/server/gateway/testing/testGateway";
import { openStore } from "@/server/store/store";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { freePort } from "@/server/testing/freePorts";
import { prometheus } from "./testing/testPrometheus";

const place = z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() });
const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string().min(1),
      gridPos: place,
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});
const { panels } = dashboardSchema.parse(JSON.parse(readFileSync("public/grafana/weir.json", "utf8")));
const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const namesOf = (expression: string): readonly string[] => expression.match(/(?:\bweir_|\bvllm:|\bDCGM_)\w+/g) ?? [];

/** Names of the series that an exposition has or will have, histograms' parts among them. */
function seriesNames(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) (\w+)/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name + part) : [name],
  );
}

async function exposed(): Promise<ReadonlySet<string>> {
  const emulators = new TestEmulators(await freePort());
  onTestFinished(() => emulators.end());
  const { engineUrl, cluster } = await emulators.serving();
  await (await post(engineUrl, ask("short"))).text();
  const gateway = await startTestGateway();
  const folder = mkdtempSync(join(tmpdir(), "weir-dashboard-"));
  const store = openStore(folder);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
  const studio = createStudioMetrics({ frames: () => [], applications: store.applications, series: () => [] });
  const read = async (url: string) => (await fetch(`${url}/metrics`)).text();
  const texts = [await read(engineUrl), await read(gateway.adminUrl), cluster.gpus.text(), (await studio.exposition()).text];
  return new Set(texts.flatMap(seriesNames));
}

it("asks for nothing that engine, GPUs, gateway and studio do not expose", async () => {
  const there = await exposed();
  const asked = [...new Set(expressions.flatMap(namesOf))];
  expect(asked.length).toBeGreaterThan(30);
  expect(asked.filter((name) => !there.has(name))).toEqual([]);
  expect(expressions.filter((expression) => namesOf(expression).length === 0)).toEqual([]);
});

it("is PromQL throughout", needs(prometheus), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = expressions.map((expr, at) => ({ record: `rule:${at}`, expr: expr.replaceAll("$__rate_interval", "1m") }));
  writeFileSync(join(folder, "rules.yml"), stringify({ groups: [{ name: "weir", rules }] }));
  const { status, stderr } = spawnSync("promtool", ["check", "rules", join(folder, "rules.yml")], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

it("has every panel once, in a place of its own", () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const one of panels) {
    const over = panels.filter(({ id, gridPos: { x, y, w, h } }) => {
      const { gridPos: own } = one;
      return id !== one.id && x < own.x + own.w && own.x < x + w && y < own.y + own.h && own.y < y + h;
    });
    expect(over).toEqual([]);
  }
});

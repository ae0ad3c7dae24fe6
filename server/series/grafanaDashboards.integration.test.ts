import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { needs, program } from "@/scripts/needs.mjs";
import { ask, post, TestEmulators } from "@/server/emulator/testEmulators";
import { startTestGateway } from "@/server/gateway/testing/testGateway";
import { openStore } from "@/server/store/store";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { freePort } from "@/server/testing/freePorts";
import { dashboards, expressions, over } from "./testing/dashboards";

const namesOf = (text: string): readonly string[] => text.match(/(?:\bweir_|\bgen_ai_\w+_|\bvllm:|\bDCGM_)\w+/g) ?? [];
/** Labels, which look like metrics' names. */
const labels = ["gen_ai_operation_name", "gen_ai_request_model", "gen_ai_token_type"];

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
  const studio = createStudioMetrics({ frames: () => [], applications: store.applications, series: () => [], promises: () => [] });
  const read = async (url: string) => (await fetch(`${url}/metrics`)).text();
  const texts = [await read(engineUrl), await read(gateway.adminUrl), cluster.gpus.text(), (await studio.exposition()).text];
  return new Set(texts.flatMap(seriesNames));
}

it("dashboards and rules ask for nothing that engine, GPUs, gateway and studio do not expose", async () => {
  const there = await exposed();
  const rules = readFileSync("public/prometheus/weir.rules.yml", "utf8");
  const asked = [...new Set([...expressions.map(({ expr }) => expr), rules.replace(/^ +runbook: .*$/gm, "")].flatMap(namesOf))];
  expect(asked.length).toBeGreaterThan(30);
  // Counts of spans are there where traces are on.
  const expected = asked.filter((name) => !labels.includes(name) && name !== "weir_gateway_spans_total");
  expect(expected.filter((name) => !there.has(name))).toEqual([]);
  expect(expressions.filter(({ expr }) => namesOf(expr).length === 0)).toEqual([]);
});

it("dashboards are PromQL throughout", needs(program("promtool")), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = expressions.map(({ expr }, at) => ({ record: `rule:${at}`, expr: over(expr, "1m") }));
  writeFileSync(join(folder, "rules.yml"), stringify({ groups: [{ name: "weir", rules }] }));
  const { status, stderr } = spawnSync("promtool", ["check", "rules", join(folder, "rules.yml")], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

it("there are three dashboards, with every panel once, in a place of its own", () => {
  expect(dashboards.map(({ file, uid }) => [file, uid])).toEqual(
    ["engines", "gateway", "plan"].map((name) => [`weir-${name}.json`, `weir-${name}`]),
  );
  for (const { panels } of dashboards) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const one of panels) {
      const beside = panels.filter(({ id, gridPos: { x, y, w, h } }) => {
        const { gridPos: own } = one;
        return id !== one.id && x < own.x + own.w && own.x < x + w && y < own.y + own.h && own.y < y + h;
      });
      expect(beside).toEqual([]);
      expect(one.gridPos.x + one.gridPos.w).toBeLessThanOrEqual(24);
    }
  }
});

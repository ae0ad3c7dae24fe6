import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import type { Observation } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { planOnGpus } from "@/server/clusters/testing/testCluster";
import { openStore } from "@/server/store/store";
import { clusterHealth, connectCluster } from "./connectedCluster";

const folder = mkdtempSync(join(tmpdir(), "weir-connected-"));
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

it("says that a cluster is down when a look at it does not come back, and takes the next one that does", async () => {
  let release = (_: { readonly ok: false; readonly message: string }): void => undefined;
  const host = { observe: () => new Promise((resolve) => (release = resolve)) } as unknown as EngineHost;
  const store = openStore(folder);
  const cluster = connectCluster({
    ...{ id: "c", kind: "kubernetes", host, gatewayUrl: "http://127.0.0.1:9", gatewayAdminUrl: "http://127.0.0.1:9", adminToken: "t" },
    ...{ store, scrapeIntervalMs: 1_000, onScrape: () => undefined, labelOf: () => null, saveObservation: () => undefined },
    ...{ gatewayAdvice: null, seriesOf: null },
  });
  expect(cluster.seen().atMs).toBeNull();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + 12_000);
  expect(cluster.health()).toEqual({ word: "down", reason: "It has not been seen for 12 s: the last look at it has not come back." });
  expect(cluster.seen().atMs).not.toBeNull();
  release({ ok: false, message: "Nobody is there." });
  await vi.waitFor(() => expect(cluster.health().reason).toBe("Nobody is there."));
  await cluster.close();
  store.close();
});

const plan = planOnGpus("p", { "qwen2.5-3b": [0, 1] });
const ids = targetEngines(plan).map(({ id }) => id);
const [first = "", second = ""] = ids;

/** Engines that stand, and those of them that get requests. */
const seen = (standing: readonly string[], active: readonly string[] = standing) => ({
  ok: true as const,
  value: { engines: standing.map((id) => ({ id })), routing: { planId: plan.id, active, cordoned: [] } } as unknown as Observation,
});
const ground = { runningPlanId: plan.id, plan, batch: null, heard: [] };

it("is degraded while an engine of the plan in force is gone, routed to or not", () => {
  expect(clusterHealth({ ...ground, latest: seen(ids) })).toEqual({ word: "up", reason: "2 engines serve." });
  expect(clusterHealth({ ...ground, latest: seen([first]) })).toEqual({ word: "degraded", reason: `${second} should serve and is gone.` });
  expect(clusterHealth({ ...ground, latest: seen([first], ids) })).toEqual({
    word: "degraded",
    reason: `${second} should serve and is gone.`,
  });
});

it("is up while a roll-out is at work on the engines of the plan in force, and degraded by one that is routed to and gone", () => {
  expect(clusterHealth({ ...ground, plan: null, latest: seen([first]) })).toEqual({ word: "up", reason: "One engine serves." });
  expect(clusterHealth({ ...ground, plan: null, latest: seen([first], ids) }).word).toBe("degraded");
});

it("says which batch runs beside the plan in force", () => {
  const { reason } = clusterHealth({ ...ground, batch: "nightly", latest: seen(ids) });
  expect(reason).toBe('2 engines serve. The batch "nightly" runs here.');
});

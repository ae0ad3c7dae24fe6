import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import { openStore } from "@/server/store/store";
import { connectCluster } from "./connectedCluster";

const folder = mkdtempSync(join(tmpdir(), "weir-connected-"));
afterEach(() => void vi.useRealTimers());
afterAll(() => rmSync(folder, { recursive: true }));

function connected(host: EngineHost) {
  const store = openStore(folder);
  const at = { id: "c", kind: "kubernetes", host, gatewayUrl: "http://127.0.0.1:9", gatewayAdminUrl: "http://127.0.0.1:9" } as const;
  const cluster = connectCluster({
    ...{ ...at, adminToken: "t", sign: () => "", store, scrapeIntervalMs: 1_000, onScrape: () => undefined, labelOf: () => null },
    ...{ saveObservation: () => undefined, gatewayAdvice: null, seriesOf: null },
  });
  return {
    cluster,
    async close() {
      await cluster.close();
      store.close();
    },
  };
}

it("says that a cluster is down when a look at it does not come back, and takes the next one that does", async () => {
  let release = (_: { readonly ok: false; readonly message: string }): void => undefined;
  const host = { observe: () => new Promise((resolve) => (release = resolve)) } as unknown as EngineHost;
  const { cluster, close } = connected(host);
  expect(cluster.seen().atMs).toBeNull();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + 12_000);
  expect(cluster.health()).toEqual({ state: "down", reason: "It has not been seen for 12 s: the last look at it has not come back." });
  expect(cluster.seen().atMs).not.toBeNull();
  release({ ok: false, message: "Nobody is there." });
  await vi.waitFor(() => expect(cluster.health().reason).toBe("Nobody is there."));
  await close();
});

it("is observed although the programs beside its engines cannot be looked after", async () => {
  const keep = vi.fn(() => {
    throw new Error("disk full");
  });
  const observe = vi.fn(async () => ({ ok: false, message: "Nobody is there." }));
  const { cluster, close } = connected({ keep, observe } as unknown as EngineHost);
  await vi.waitFor(() => expect(cluster.health()).toEqual({ state: "down", reason: "Nobody is there." }));
  expect(keep).toHaveBeenCalled();
  await close();
});

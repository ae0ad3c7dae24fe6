import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "@/server/store/store";
import { createJudgeMonitor, type JudgeMonitor } from "./judgeMonitor";
import { startTestJudge, type TestJudge } from "./testing/testJudge";

const signal = new AbortController().signal;
const model = "our-judge";

describe("what is kept of judges", () => {
  let folder: string;
  let store: Store;
  let judge: TestJudge;
  let monitor: JudgeMonitor;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "weir-judges-"));
    store = openStore(folder);
    judge = await startTestJudge();
    monitor = createJudgeMonitor({ store, clusterOf: () => null });
  });
  afterEach(async () => {
    monitor.close();
    await judge.close();
    store.close();
    rmSync(folder, { recursive: true });
  });

  /** An attached cluster with one engine, judged by `own` or by that engine. */
  function attach(id: string, engineUrl: string, own?: { readonly url: string }): void {
    const spec = { id, name: id, kind: "endpoints", gpu: "l4", nodes: [{ name: "e0", gpus: 1 }], usdPerGpuHour: 1 } as const;
    const endpoints = [{ name: "e0", url: engineUrl, model, gpu: "l4", precision: "bf16" }];
    const connection = { kind: "endpoints", judge: { model, ...own }, endpoints };
    store.clusters.insert({ ...spec, nodes: [...spec.nodes] }, "2026-01-01T00:00:00.000Z", { connection, gateway: null });
  }
  const tested = async (id: string, recent = false) => {
    const found = await monitor.measure(id, { recent });
    if (!found.ok) throw new Error(found.message);
    return found.test;
  };

  it("takes the test of the dialog when a judge is attached, and calls it again where that test failed", async () => {
    const { url } = judge;
    attach("a", "http://127.0.0.1:9", { url });
    judge.is.status = 500;
    expect(await monitor.try({ model, url }, signal)).toMatchObject({ fault: "failed" });
    judge.is.status = 200;
    const mended = await tested("a", true);
    expect(mended.fault).toBeNull();
    expect(mended.times).not.toBeNull();
    const calls = judge.calls();
    expect(await tested("a", true)).toEqual(mended);
    expect(judge.calls()).toBe(calls);
  });

  it("plans with the times of the last test that had some, whatever failed later", async () => {
    attach("a", "http://127.0.0.1:9", { url: judge.url });
    const { times, testedAt } = await tested("a");
    if (times === null) throw new Error("nothing was measured");
    judge.is.status = 500;
    for (let failed = 0; failed < 2; failed += 1) expect((await tested("a")).fault).toBe("failed");
    expect(monitor.of("a")?.test?.fault).toBe("failed");
    expect(monitor.planned("a")).toMatchObject({
      secondsPerCall: times.meanSeconds,
      source: { kind: "measured-at-attach", calls: times.calls, measuredAt: testedAt },
    });
  });

  it("tests the engines of two clusters that judge under the same name each by itself", async () => {
    const other = await startTestJudge();
    try {
      attach("a", judge.url);
      attach("b", other.url);
      const first = await tested("a", true);
      const second = await tested("b", true);
      expect([judge.calls(), other.calls()]).toEqual([16, 16]);
      expect(second).not.toEqual(first);
    } finally {
      await other.close();
    }
  });

  it("goes on with a test for others when one who asked for it leaves", async () => {
    const { url } = judge;
    judge.is.takesMs = () => 20;
    const dialog = new AbortController();
    const left = monitor.try({ model, url }, dialog.signal);
    const stays = monitor.try({ model, url }, signal);
    dialog.abort(new Error("closed"));
    await expect(left).rejects.toThrow("closed");
    expect((await stays).fault).toBeNull();
    expect(judge.calls()).toBe(16);
  });
});

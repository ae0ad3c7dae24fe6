import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSeriesBook, type SeriesBook } from "@/server/series/seriesBook";
import { openStore } from "@/server/store/store";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { liveServingRows } from "./liveServingRows";

/** An engine under steady load: 8 requests in flight, 2 answered a second, 200 tokens read and 300 written of each. */
const STEADY = {
  running: 8,
  waiting: 0,
  requestsPerSecond: 2,
  promptTokensPerSecond: 400,
  generationTokensPerSecond: 600,
  ttftMeanSeconds: 0.1,
  tpotMeanSeconds: 0.013,
  endToEndMeanSeconds: 4,
  preemptionsPerSecond: 0,
};

const startMs = Date.UTC(2026, 0, 1);
const minutes = (count: number): number => 60_000 * count;

it("takes rows from what was kept before the studio was restarted, as from what came after", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-live-restart-"));
  const store = openStore(folder);
  let nowMs = startMs;
  const open = (): SeriesBook => createSeriesBook({ clusterId: "c", repository: store.rollUps, now: () => nowMs });
  const run = (book: SeriesBook, forMs: number): void => {
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += 1000) {
      for (const [quantity, value] of Object.entries(STEADY)) book.append(nowMs, "engine:e", quantity, value);
    }
  };
  try {
    const before = open();
    run(before, minutes(20));
    await before.close();
    nowMs += minutes(1);
    const series = open();
    run(series, minutes(5));
    const deployed = { gpu: "l40s", tp: 1, pp: 1, precision: "bf16" } as const;
    const engine = { id: "e", model: "gemma-2-2b", engine: { type: "vllm", version: "0.11.0" }, deployed, knownSinceMs: 0, resetsMs: [] };
    const cluster = { name: "c", emulated: false, timeScale: 1, lookBackMs: 15_000, series, engines: [engine] };
    const range = { fromMs: nowMs - minutes(60), toMs: nowMs };
    const { rows, report } = await liveServingRows(cluster, range, catalogueOf(noUserCards));
    await series.close();
    const [told] = report.engines;
    expect(told?.seconds).toBeGreaterThan(20 * 60);
    expect(told?.seconds).toBeLessThanOrEqual(25 * 60);
    expect(rows.length).toBe(told?.windows);
    for (const row of rows) {
      expect(row.concurrency).toBe(8);
      expect(row.measured.ttftSeconds).toBeCloseTo(0.1, 5);
    }
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
});

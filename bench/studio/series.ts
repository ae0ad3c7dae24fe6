import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantities } from "@/server/series/quantities";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore } from "@/server/store/store";
import { seededRandom } from "@/solver/numeric/random";
import type { Benchmark, Measurement } from "../lib/benchmark";

const SECONDS = 3_600;
const FLUSH_SECONDS = 60;
const DAY_SECONDS = 86_400;

export const seriesBenchmarks: readonly Benchmark[] = [
  { name: "series of 64 engines and 64 GPUs kept", budget: null, run: () => keeping(64, 64) },
  { name: "series of 64 engines and 512 GPUs kept", budget: null, run: () => keeping(64, 512) },
];

/**
 * An hour at one round a second, as fast as possible, into a store on disk: the share of a core that it needs in real time, and the size of
 * the store. Half of the quantities stay constant for a minute at a time, as percentiles and levels do; the others are noise, which no
 * packing helps.
 */
async function keeping(engines: number, gpus: number): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), "weir-bench-series-"));
  const store = openStore(folder);
  try {
    const subjects = [
      ...Array.from({ length: engines }, (_, at) => ({ subject: `engine:engine-${at}`, names: Object.keys(quantities.engine) })),
      ...Array.from({ length: gpus }, (_, at) => ({ subject: `gpu:node-${at >> 3}/${at & 7}`, names: Object.keys(quantities.gpu) })),
      { subject: "gateway", names: Object.keys(quantities.gateway) },
    ];
    const random = seededRandom(1);
    const noise = Float64Array.from({ length: 4_096 }, () => random.next());
    const startMs = Date.UTC(2026, 0, 1);
    let nowMs = startMs;
    let rows = 0;
    const repository: typeof store.rollUps = {
      ...store.rollUps,
      write(blocks, keep) {
        rows += blocks.length;
        store.rollUps.write(blocks, keep);
      },
    };
    const book = createSeriesBook({ clusterId: "bench", repository, now: () => nowMs, flushMs: 2 ** 31 - 1 });
    const before = process.cpuUsage();
    let longestMs = 0;
    for (let second = 0; second < SECONDS; second += 1) {
      nowMs = startMs + second * 1000;
      for (const [at, { subject, names }] of subjects.entries()) {
        for (const [column, name] of names.entries()) {
          const turn = column % 2 === 0 ? second : Math.floor(second / 60);
          book.append(nowMs, subject, name, noise[(turn * 31 + at * 17 + column * 7) % noise.length] ?? 0);
        }
      }
      if (second % FLUSH_SECONDS !== FLUSH_SECONDS - 1) continue;
      const began = performance.now();
      await book.flush();
      longestMs = Math.max(longestMs, performance.now() - began);
    }
    const used = process.cpuUsage(before);
    await book.close();
    const { series, bytes } = book.state();
    store.close();
    const hourBytes = statSync(join(folder, "weir.db")).size;
    const perStep = bytesByStep(folder);
    const kept = (perStep.get(10) ?? 0) * ((2 * DAY_SECONDS) / SECONDS) + (perStep.get(60) ?? 0) * ((30 * DAY_SECONDS) / SECONDS);
    return {
      figure: (100 * (used.user + used.system)) / 1e6 / SECONDS,
      unit: "% of one core",
      detail: `${series} series, ${megabytes(bytes)} in memory; ${Math.round(rows / (SECONDS / FLUSH_SECONDS))} rows a minute in one transaction, the longest writing ${Math.round(longestMs)} ms; ${megabytes(hourBytes)} of store after an hour, ${megabytes(kept)} when 2 days of 10 s and 30 days of minutes are full`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bytesByStep(folder: string): ReadonlyMap<number, number> {
  const store = openStore(folder);
  const sizes = store.rollUps.sizes();
  store.close();
  return new Map(sizes.map(({ stepSeconds, bytes }) => [stepSeconds, bytes]));
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toPrecision(3)} MB`;

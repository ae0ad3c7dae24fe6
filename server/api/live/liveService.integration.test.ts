import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { EngineFrame, LiveEvent, LiveTopics } from "@/server/contracts/studio";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { keepFrames } from "@/server/series/keepFrames";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore } from "@/server/store/store";
import { createCollector } from "@/server/telemetry/collector";
import { type EngineProcess, startEngineProcess } from "@/server/telemetry/testing/testEngineProcess";
import { createLiveService } from "./liveService";

/** Long enough for a process on a busy machine to answer within two of them. */
const INTERVAL_MS = 200;
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A service over the real collector, book and store, watching one engine. */
function serviceOver(engine: EngineProcess) {
  const folder = mkdtempSync(join(tmpdir(), "weir-live-"));
  const store = openStore(folder);
  const collector = createCollector({
    clusterId: embeddedClusterId,
    targets: () => [{ id: "a", model: "m", url: engine.url, gpus: [] }],
    dcgmUrls: [],
    gatewayAdminUrl: "http://127.0.0.1:9",
    adminToken: "",
    timeScale: 1,
    intervalMs: INTERVAL_MS,
  });
  const book = createSeriesBook({ clusterId: embeddedClusterId, repository: store.rollUps, intervalMs: INTERVAL_MS });
  const ending = new AbortController();
  const kept = keepFrames(collector.follow(ending.signal, 0), { book, cluster: () => null });
  endings.push(async () => {
    ending.abort();
    collector.close();
    await kept;
    await book.close();
    store.close();
    rmSync(folder, { recursive: true });
  });
  return {
    live: createLiveService({ clusterOf: (id) => (id === embeddedClusterId ? { collector: () => collector, series: book } : null), store }),
    collector,
  };
}

const rates = ["generationTokensPerSecond", "requestsPerSecond", "preemptionsPerSecond"];
const topics: LiveTopics = {
  charts: { spanMs: 60_000, points: 800, series: rates.map((quantity) => ({ subject: "engine:a", quantity })) },
  decisions: null,
};

/** Reads events until an engine reaches the wanted state. Until then no rate may be negative, in any frame or chart. */
async function engineWhere(
  events: AsyncIterator<{ readonly event: LiveEvent }>,
  holds: (engine: EngineFrame) => boolean,
): Promise<EngineFrame> {
  for (;;) {
    const next = await events.next();
    if (next.done) throw new Error("the stream ended");
    const { event } = next.value;
    if (event.kind === "columns") {
      for (const { min } of event.range.series) expect(min.every((value) => value === null || value >= 0)).toBe(true);
    }
    if (event.kind !== "frame") continue;
    const [engine] = event.frame.engines;
    for (const reading of Object.values(engine?.readings ?? {})) {
      if (reading.state === "value" && typeof reading.value === "number") expect(reading.value).toBeGreaterThanOrEqual(0);
    }
    if (engine !== undefined && holds(engine)) return engine;
  }
}

const isCounting = ({ state, readings }: EngineFrame): boolean =>
  state === "fresh" && readings?.generationTokensPerSecond.state === "value" && (readings.generationTokensPerSecond.value ?? 0) > 0;
const hasNew =
  (kind: string, since: number) =>
  ({ events }: EngineFrame): boolean =>
    events.some((event) => event.kind === kind && event.atMs >= since);

describe("the stream of a tab", () => {
  it("tells what befell a target and since when, and no rate of it is ever negative", async () => {
    const engine = await startEngineProcess();
    endings.push(() => engine.kill());
    const ending = new AbortController();
    endings.push(() => ending.abort());
    const events = serviceOver(engine).live.stream({ clusterId: embeddedClusterId, topics }, ending.signal)[Symbol.asyncIterator]();
    await engineWhere(events, isCounting);

    let since = Date.now();
    await engine.say({ reset: true });
    await engineWhere(events, hasNew("counters-reset", since));

    since = Date.now();
    await engine.say({ version: "0.31.0", started: 2 });
    const changed = await engineWhere(events, hasNew("version-changed", since));
    expect(changed.events.map(({ text }) => text)).toContain("Its version was 0.30.0 and is 0.31.0.");

    since = Date.now();
    await engine.say({ metrics: "<html>502</html>\n" });
    const garbage = await engineWhere(events, ({ failing }) => failing?.kind === "unreadable");
    expect(garbage.failing?.sinceMs).toBeGreaterThanOrEqual(since - 2 * INTERVAL_MS);

    since = Date.now();
    engine.hang();
    const hung = await engineWhere(events, ({ failing }) => failing?.kind === "timeout");
    expect(hung.failing?.sinceMs).toBeGreaterThanOrEqual(since - 2 * INTERVAL_MS);

    since = Date.now();
    await engine.kill();
    const gone = await engineWhere(events, ({ state, failing }) => state === "unreachable" && failing?.kind === "unreachable");
    expect(gone.failing?.sinceMs).toBeGreaterThanOrEqual(since);
    expect(gone).toMatchObject({ running: null, readings: null });
    expect(gone.events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["unreadable", "timeout", "unreachable"]));
  }, 60_000);

  it("begins with what is known, charts among it, and after a break with what came since", async () => {
    const engine = await startEngineProcess();
    endings.push(() => engine.kill());
    const { live, collector } = serviceOver(engine);
    const read = async (count: number, lastEventId?: string) => {
      const given: { readonly id: string; readonly event: LiveEvent }[] = [];
      const ending = new AbortController();
      const request = { clusterId: embeddedClusterId, topics, ...(lastEventId === undefined ? {} : { lastEventId }) };
      for await (const one of live.stream(request, ending.signal)) if (given.push(one) === count) break;
      return given;
    };
    const frames = (given: Awaited<ReturnType<typeof read>>) =>
      given.flatMap(({ event }) => (event.kind === "frame" ? [event.frame.atMs] : []));
    await engineWhere(
      live.stream({ clusterId: embeddedClusterId, topics }, new AbortController().signal)[Symbol.asyncIterator](),
      isCounting,
    );
    const known = collector.frames().map(({ atMs }) => atMs);
    const first = await read(known.length + 1);
    expect(frames(first).slice(0, known.length)).toEqual(known);
    expect(first.map(({ event }) => event.kind)).toContain("columns");
    const again = await read(4, first.at(-1)?.id);
    expect(frames(again).every((atMs) => atMs > Number(first.at(-1)?.id))).toBe(true);
  }, 20_000);

  it("answers a range of all of time, as of a month at most and up to now", async () => {
    const engine = await startEngineProcess();
    endings.push(() => engine.kill());
    const { live } = serviceOver(engine);
    const series = [{ subject: "engine:a", quantity: "running" }];
    const { bucketMs } = await live.range(embeddedClusterId, { fromMs: 0, toMs: 8.64e15, points: 800, series });
    expect(bucketMs).toBe(3_600_000);
  });

  it("of a cluster without telemetry ends at once, with nothing of another", async () => {
    const engine = await startEngineProcess();
    endings.push(() => engine.kill());
    const given: LiveEvent[] = [];
    for await (const { event } of serviceOver(engine).live.stream({ clusterId: "another", topics }, new AbortController().signal))
      given.push(event);
    expect(given).toEqual([{ kind: "columns", range: { bucketMs: 1_000, atMs: [], series: [], problems: [] } }]);
  });
});

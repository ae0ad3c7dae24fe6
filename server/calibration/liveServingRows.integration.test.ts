import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createCalibrationService } from "@/server/api/hardware/calibrationService";
import { createCardStore } from "@/server/cards/cardStore";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import type { CheckEvent, FitState } from "@/server/contracts/studio";
import { keepFrames } from "@/server/series/keepFrames";
import { createSeriesBook, type SeriesBook } from "@/server/series/seriesBook";
import type { SeriesSource } from "@/server/series/seriesSource";
import { openStore, type Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { type Collector, createCollector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import { freePorts } from "@/server/testing/freePorts";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { Coefficient } from "@/solver/hardware/engineProfile";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { liveServingRows, type WatchedCluster, type WatchedEngine } from "./liveServingRows";

const TOKEN = "secret";
const MODEL = "gemma-2-2b";
/** Engine seconds in a second of the wall: the ten samples that a window has at least are the minute that it is at least. */
const TIME_SCALE = 6;
/** What each engine of the emulated cluster is kept at: requests in flight, and prompts of so many tokens. */
const LOADS = [
  { concurrency: 5, prompts: "short" },
  { concurrency: 6, prompts: "long" },
  { concurrency: 8, prompts: "long" },
  { concurrency: 10, prompts: "short" },
  { concurrency: 12, prompts: "long" },
  { concurrency: 14, prompts: "short" },
  { concurrency: 20, prompts: "short" },
] as const;
/** The rest of a busy machine spoils some windows: rows of so many engines, as many unlike rows as a fit needs, are enough. */
const ENOUGH = 5;
/** Less than the real span of rates: collection begins when the load is steady, so there are no earlier values. */
const LOOK_BACK_MS = 3_500;
const LOAD_LIMIT_MS = 60_000;

const random = seededRandom(3);
const near = (tokens: number): number => Math.round(tokens * (0.8 + 0.4 * random.next()));
const prompts = Array.from({ length: 80 }, (_, at) => ({
  id: `${at % 2 === 0 ? "short" : "long"}-${at}`,
  input: near(at % 2 === 0 ? 150 : 1200),
  output: near(300),
}));

/** Keeps so many requests in flight until it is stopped, as closed-loop clients do. */
function keepBusy(url: string, { concurrency, prompts: kind }: (typeof LOADS)[number]) {
  const own = prompts.filter(({ id }) => id.startsWith(kind));
  let next = 0;
  let stopped = false;
  const ask = async (): Promise<void> => {
    const body = { model: MODEL, messages: [{ role: "user", content: `[prompt ${own[next++ % own.length]?.id}] Go.` }] };
    await (
      await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      })
    ).text();
  };
  const firsts = Array.from({ length: concurrency }, ask);
  const clients = firsts.map(async (first) => {
    await first;
    while (!stopped) await ask();
  });
  return {
    /** Every client has its first answer. */
    steady: Promise.all(firsts),
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

describe("rows from an emulated cluster", () => {
  let folder: string;
  let store: Store;
  let emulator: ChildProcess;
  let collector: Collector;
  let book: SeriesBook;
  let engines: readonly EmulatedEngine[];
  const ending = new AbortController();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "weir-live-rows-"));
    store = openStore(folder);
    const [admin = 0, dcgm = 0, engine = 0] = await freePorts(3);
    emulator = spawn(process.execPath, [join("dist", "emulator.mjs")], {
      stdio: "ignore",
      env: {
        ...process.env,
        WEIR_STATE_DIR: folder,
        WEIR_ADMIN_TOKEN: TOKEN,
        WEIR_EMULATOR_PORT: String(admin),
        WEIR_DCGM_PORT: String(dcgm),
        WEIR_ENGINE_PORT_BASE: String(engine),
        WEIR_TIME_SCALE: String(TIME_SCALE),
        WEIR_EMBEDDED: JSON.stringify({ gpu: "l40s", nodes: [{ name: "n1", gpus: LOADS.length }] }),
        WEIR_EMULATOR_NOISE: "off",
      },
    });
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const answer = await fetch(`http://127.0.0.1:${admin}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return answer.status === 204 ? null : answer.json();
    };
    await vi.waitUntil(() => call("GET", "/cluster").catch(() => null), { timeout: 20_000, interval: 100 });
    await call("PUT", "/outcomes", {
      name: "held-out",
      promptIds: prompts.map(({ id }) => id),
      inputTokens: prompts.map(({ input }) => input),
      models: [
        { model: MODEL, outputTokens: prompts.map(({ output }) => output), label: prompts.map(() => 100), judged: prompts.map(() => 80) },
      ],
    });
    for (const [gpu] of LOADS.entries()) {
      const placements = [{ node: "n1", gpus: [gpu] }];
      await call("POST", "/engines", { id: `e${gpu}`, model: MODEL, gpu: "l40s", tp: 1, pp: 1, placements });
    }
    engines = await vi.waitUntil(
      async () => {
        const all = (await call("GET", "/engines")) as readonly EmulatedEngine[];
        return all.length === LOADS.length && all.every(({ state }) => state === "ready") ? all : null;
      },
      { timeout: 20_000, interval: 100 },
    );
    const busy = engines.map(({ url }, at) => keepBusy(url, LOADS[at] ?? LOADS[0]));
    await Promise.all(busy.map(({ steady }) => steady));
    const targets = engines.map(({ id, model, url }): Target => ({ id, model, url, gpus: [] }));
    const nowhere = { dcgmUrls: [], gatewayAdminUrl: "http://127.0.0.1:1", adminToken: "" };
    collector = createCollector({ clusterId: "embedded", targets: () => targets, ...nowhere, timeScale: TIME_SCALE });
    book = createSeriesBook({ clusterId: "embedded", repository: store.rollUps });
    void keepFrames(collector.follow(ending.signal), { book, cluster: () => null });
    const cards = catalogueOf(noUserCards);
    const now = (): { fromMs: number; toMs: number } => ({ fromMs: Date.now() - 3_600_000, toMs: Date.now() });
    const enoughGive = async (): Promise<boolean> => {
      const { engines: each } = (await liveServingRows(watched(), now(), cards)).report;
      return each.filter(({ rows }) => rows > 0).length >= ENOUGH;
    };
    await vi.waitUntil(enoughGive, { timeout: LOAD_LIMIT_MS, interval: 500 });
    await Promise.all(busy.map(({ stop }) => stop()));
  }, 150_000);

  afterAll(async () => {
    ending.abort();
    collector.close();
    await book.close();
    store.close();
    const gone = once(emulator, "exit");
    emulator.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true });
  });

  const watched = (): WatchedCluster => ({
    name: "embedded (emulated)",
    emulated: true,
    timeScale: TIME_SCALE,
    lookBackMs: LOOK_BACK_MS,
    series: book,
    engines: (collector.frames().at(-1)?.engines ?? []).map(({ id, model, engine }) => ({
      id,
      model,
      engine,
      deployed: { gpu: "l40s", tp: 1, pp: 1, precision: "bf16" },
      knownSinceMs: 0,
      resetsMs: [],
    })),
  });

  it("say what is predicted of them, under the model that they follow, and fit back to its terms", async () => {
    const sourceOf = async () => ({ ok: true, cluster: watched() }) as const;
    const service = createCalibrationService({ store, uploads: createUploads(folder), cards: createCardStore(folder), sourceOf });
    const taken = await service.calibrateFromLive({ clusterId: "embedded", span: "hour" });
    if (!taken.ok || taken.uploadId === null) throw new Error(JSON.stringify(taken));
    const { uploadId, live } = taken;
    expect(live.emulated).toBe(true);
    expect(live.engines.map(({ engine, refusal }) => [engine?.type, refusal])).toEqual(LOADS.map(() => ["weir-emulator", null]));
    expect(live.engines.filter(({ rows }) => rows > 0).length).toBeGreaterThanOrEqual(ENOUGH);
    expect(service.liveRows(uploadId)).toEqual(live);

    const events: CheckEvent[] = [];
    for await (const event of service.check({ uploadId, profileId: "vllm" }, new AbortController().signal)) events.push(event);
    expect(events[0]).toMatchObject({ kind: "table", name: expect.stringContaining("emulated"), unsupported: [], bad: [] });
    const predictions = events.flatMap((event) => (event.kind === "predicted" ? event.predictions : []));
    for (const { row } of predictions) {
      expect(row).toMatchObject({ origin: "emulated", model: MODEL, gpu: "l40s", shape: { tp: 1, pp: 1 } });
      // A client spends some time between an answer and its next request, on a busy machine as much as an engine does: fewer requests are
      // in flight than there are clients. The estimate may be higher: by Little's law requests that are in flight at the start of a window
      // count as a whole, and counters are attributed to the arrival time of their reading, so that a late first reading makes rates too
      // high. The estimate differs by at most a quarter from the engine's own number of running requests, which never exceeds the clients:
      // otherwise there is no row.
      const clients = LOADS[Number(row.id[1])]?.concurrency ?? 0;
      expect(row.concurrency, row.id).toBeLessThanOrEqual(Math.round(clients / (1 - 0.25)));
      expect(row.concurrency, row.id).toBeGreaterThanOrEqual(Math.floor(0.6 * clients));
    }
    for (const { row, errors } of predictions) {
      expect(Math.abs(errors.endToEnd ?? 1), `end to end of ${row.id}`).toBeLessThan(0.05);
      expect(Math.abs(errors.tpot ?? 1), `TPOT of ${row.id}`).toBeLessThan(0.05);
      expect(Math.abs(errors.ttft ?? 9), `TTFT of ${row.id}`).toBeLessThan(1);
    }
    // The emulator's timers and its clients' make requests come in bunches of some ms of the wall, tens of an engine's: of one row that
    // may be much.
    expect(mean(predictions.map(({ errors }) => Math.abs(errors.ttft ?? 9)))).toBeLessThan(0.4);

    const request = { uploadId, profileId: "vllm", engine: "vllm", efficiencies: true, tpotOnly: true, name: "from here" } as const;
    const started = await service.startFit(request);
    if (!started.ok) throw new Error(started.message);
    const ended = (state: FitState | null): FitState | null => (state?.kind === "running" ? null : state);
    const state = await vi.waitUntil(() => ended(service.fit(started.id)), { timeout: 60_000 });
    if (state.kind !== "fitted") throw new Error(JSON.stringify(state));
    const { profile, trainErrors } = state.fit;
    expect(profile.name).toBe("from here (emulated)");
    expect(profile.fittedOn?.emulated).toBe(true);
    expect(trainErrors.endToEnd.meanAbsolute).toBeLessThan(0.03);
    for (const [name, { kind }] of Object.entries(profile.provenance) as [Coefficient, { kind: string; source: string }][]) {
      if (kind !== "fitted" || !profile.provenance[name].source.startsWith("from here")) continue;
      const base = state.base.coefficients[name];
      // A few microseconds per sequence are below the timer resolution of a busy machine.
      const allowed = Math.max(0.35 * base, name === "sequenceSeconds" ? 5e-6 : 0);
      expect(Math.abs(profile.coefficients[name] - base), name).toBeLessThan(allowed);
    }

    // Downloaded and uploaded again, the table is the same.
    const table = await service.table(uploadId);
    const again = createUploads(folder);
    const sent = await again.save(
      (async function* () {
        yield Buffer.from(table?.text ?? "");
      })(),
      "again.csv",
    );
    if (!sent.ok) throw new Error(sent.message);
    const second: CheckEvent[] = [];
    for await (const event of service.check({ uploadId: sent.id, profileId: "vllm" }, new AbortController().signal)) second.push(event);
    expect(second.flatMap((event) => (event.kind === "predicted" ? event.predictions : []))).toEqual(predictions);
  }, 120_000);

  it("leave out engines of which is not known what they are, and say so", async () => {
    const [first] = watched().engines;
    if (first === undefined) throw new Error("no engine");
    const cards = catalogueOf(noUserCards);
    const range = { fromMs: Date.now() - 600_000, toMs: Date.now() };
    const refusalsOf = async (change: Partial<WatchedEngine>) => {
      const { rows, report } = await liveServingRows({ ...watched(), engines: [{ ...first, ...change }] }, range, cards);
      return [rows.length, report.engines[0]?.refusal, report.engines.slice(1).map(({ id, refusal }) => `${id}: ${refusal}`)];
    };
    const gone = LOADS.slice(1).map((_, at) => `e${at + 1}: It is gone: what it was is not kept.`);
    expect(await refusalsOf({ deployed: null })).toEqual([
      0,
      "Its GPUs, parallelism and precision are not known: no plan in force here has it.",
      gone,
    ]);
    expect(await refusalsOf({ engine: { type: "tgi", version: "3.1" } })).toEqual([0, "The work of tgi is not modelled.", gone]);
    expect(await refusalsOf({ model: "mystery-1b" })).toEqual([0, 'There is no model card "mystery-1b".', gone]);
  });

  it("leave out time of which is not known what an engine was, and say how much of it was heard", async () => {
    const [first] = watched().engines;
    if (first === undefined) throw new Error("no engine");
    const range = { fromMs: Date.now() - 600_000, toMs: Date.now() };
    const engines = [{ ...first, knownSinceMs: Date.now() - 1000 }];
    const { rows, report } = await liveServingRows({ ...watched(), engines }, range, catalogueOf(noUserCards));
    const [leftOut] = report.engines[0]?.leftOut ?? [];
    expect([rows.length, leftOut?.reason]).toEqual([0, "before it was known to be what it is now"]);
    // Only the collected part of ten minutes: less than the test takes, and at least as long as a window.
    expect(leftOut?.seconds).toBeGreaterThan(10);
    expect(leftOut?.seconds).toBeLessThan(150);
  });

  it("are of the precision an engine was deployed in, and emulated where only its metrics say so", async () => {
    const range = { fromMs: Date.now() - 600_000, toMs: Date.now() };
    const deployed = { gpu: "l40s", tp: 1, pp: 1, precision: "fp8" } as const;
    const engines = watched().engines.map((engine) => ({ ...engine, deployed }));
    const { rows, report } = await liveServingRows({ ...watched(), emulated: false, engines }, range, catalogueOf(noUserCards));
    expect(report.emulated).toBe(true);
    expect(new Set(rows.map(({ precision, origin }) => `${precision} ${origin}`))).toEqual(new Set(["fp8 emulated"]));
  });

  it("leave out samples over which a counter began anew", async () => {
    const broken: SeriesSource = {
      ...book,
      async range(request) {
        const range = await book.range(request);
        const silent = (at: number) => at % 10 === 0;
        const series = range.series.map((one) =>
          one.quantity === "ttftMeanSeconds" ? { ...one, count: one.count.map((count, at) => (silent(at) ? 0 : count)) } : one,
        );
        return { ...range, series };
      },
    };
    const range = { fromMs: Date.now() - 600_000, toMs: Date.now() };
    const { rows, report } = await liveServingRows({ ...watched(), series: broken }, range, catalogueOf(noUserCards));
    expect(rows).toEqual([]);
    expect(report.spread).toBeNull();
  });
});

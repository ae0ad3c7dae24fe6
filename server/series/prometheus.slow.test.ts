import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { listen } from "@/server/contracts/http/apiServer";
import type { SeriesColumns, SeriesKey } from "@/server/contracts/studio/seriesRange";
import { engineOn, MODEL, outcomes, TestEmulators } from "@/server/emulator/testEmulators";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { startTestGateway, testConfig, until } from "@/server/gateway/testing/testGateway";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime } from "@/server/runtime";
import { readGpus } from "@/server/telemetry/gpuMapping";
import { type Histogram, histogramDelta, histogramQuantile } from "@/server/telemetry/histogramQuantile";
import { freePort } from "@/server/testing/freePorts";
import { createPrometheusSource } from "./prometheusSource";

import { prometheus, startPrometheus } from "./testing/testPrometheus";

const TIME_SCALE = 4;
/** Some twenty wall seconds of decoding: long enough to be seen by several scrapes. */
const LONG_TOKENS = 7_800;
const nowhere = "http://127.0.0.1:9";
const mappings = [...mappingsInForce().own, ...mappingsInForce().builtIn];

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000 * count));
const lastOf = (columns: SeriesColumns | undefined): number | null => columns?.last.at(-1) ?? null;

/** What the studio itself reads of an engine. */
async function scraped(url: string) {
  const metrics = parsePromText(await (await fetch(`${url}/metrics`)).text());
  const mapping = chooseMapping(metrics, null);
  if (mapping === undefined) throw new Error("no mapping");
  const canonicalMetrics = readCanonicalMetrics(metrics, mapping);
  const sure = <Value>(reading: { readonly state: string; readonly value?: Value }): Value => {
    if (reading.value === undefined) throw new Error(reading.state);
    return reading.value;
  };
  return {
    running: sure(canonicalMetrics.running),
    kvUse: sure(canonicalMetrics.kvUse).max,
    answered: sure(canonicalMetrics.answered),
    generationTokens: sure(canonicalMetrics.generationTokens),
    promptTokens: sure(canonicalMetrics.promptTokens),
    latencies: {
      ttft: sure(canonicalMetrics.ttftSeconds),
      tpot: sure(canonicalMetrics.tpotSeconds),
      endToEnd: sure(canonicalMetrics.endToEndSeconds),
    },
  };
}

describe("a Prometheus beside Weir", needs(prometheus), () => {
  let folder: string;
  let stateBefore: unknown;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-prometheus-studio-"));
    stateBefore = (globalThis as Record<symbol, unknown>)[Symbol.for("weir.runtime")];
  });
  afterAll(() => {
    Object.assign(globalThis, { [Symbol.for("weir.runtime")]: stateBefore });
    rmSync(folder, { recursive: true });
  });

  it("scrapes engine, GPUs, gateway and studio without a warning, and is read back with what the studio's own scrapes saw", async () => {
    const emulators = new TestEmulators(await freePort());
    onTestFinished(() => emulators.end());
    const { cluster, call } = await emulators.start(TIME_SCALE);
    await call("PUT", "/outcomes", outcomes([40, LONG_TOKENS]));
    const engine = (await (await call("POST", "/engines", engineOn(0))).json()) as { readonly id: string; readonly url: string };
    await until(async () => (await fetch(`${engine.url}/health`)).status === 200);
    await listen(cluster.gpus.server, 0);
    const dcgmUrl = `http://127.0.0.1:${(cluster.gpus.server.address() as AddressInfo).port}`;
    const gateway = await startTestGateway();
    await gateway.put({ ...testConfig({ stages: [{ model: MODEL, urls: [engine.url] }] }), timeScale: TIME_SCALE });
    const studioUrl = await startStudio(folder);

    const chat = (prompt: string, signal?: AbortSignal) =>
      gateway
        .chat({ stream: true, messages: [{ role: "user", content: `[prompt ${prompt}] What is it?` }] }, signal ? { signal } : {})
        .then((answer) => answer.text());
    const batch = async () => {
      for (const _ of Array(5)) await Promise.all([chat("short"), chat("short")]);
    };
    // A histogram begins with the first request, and growth is seen from the second scrape on.
    await batch();
    const before = await scraped(engine.url);

    const prometheus = await startPrometheus([engine.url, dcgmUrl, gateway.adminUrl, studioUrl]);
    onTestFinished(() => prometheus.end());
    await until(async () => (await prometheus.targets()).filter(({ health }) => health === "up").length === 4);
    await seconds(1.5);
    const source = createPrometheusSource({
      url: prometheus.url,
      timeoutMs: 10_000,
      scrapeSeconds: 1,
      timeScale: () => TIME_SCALE,
      mappings,
      targets: () => ({
        engines: [engine],
        gpus: [{ node: "n1", index: 0 }],
        models: [MODEL],
        gatewayAdminUrl: gateway.adminUrl,
      }),
    });
    const engineSubject = `engine:${engine.id}`;
    const read = async (series: readonly SeriesKey[], lengthSeconds = 1, bucketMs = 1_000) => {
      const toMs = Date.now();
      const answer = await source.range({ fromMs: toMs - lengthSeconds * 1000, toMs, bucketMs, series });
      expect(answer.problems).toEqual([]);
      return answer.series;
    };
    const of = (subject: string, ...quantities: readonly string[]): SeriesKey[] => quantities.map((quantity) => ({ subject, quantity }));

    await batch();
    await seconds(2);
    const after = await scraped(engine.url);
    const grown = (name: keyof typeof after.latencies): Histogram => histogramDelta(before.latencies[name], after.latencies[name]);
    for (const name of ["ttft", "tpot", "endToEnd"] as const) {
      const [p50, p95, p99] = await read(of(engineSubject, `${name}P50Seconds`, `${name}P95Seconds`, `${name}P99Seconds`));
      for (const [column, q] of [[p50, 0.5] as const, [p95, 0.95] as const, [p99, 0.99] as const]) {
        const { value, limit } = histogramQuantile(q, grown(name)) ?? { value: Number.NaN };
        // Prometheus interpolates to zero in the first bucket.
        if (limit === "upper") expect(lastOf(column)).toBeLessThanOrEqual(value);
        else expect(lastOf(column)).toBeCloseTo(value, 9);
      }
    }
    const [mean] = await read(of(engineSubject, "endToEndMeanSeconds"));
    const sum = (of: typeof after): number => of.latencies.endToEnd.sum ?? Number.NaN;
    expect(lastOf(mean)).toBeCloseTo((sum(after) - sum(before)) / 10, 9);
    const [requests, written, prompts] = await read(
      of(engineSubject, "requestsPerSecond", "generationTokensPerSecond", "promptTokensPerSecond"),
    );
    const answered = after.answered - before.answered;
    expect(answered).toBe(10);
    expect((lastOf(written) ?? 0) / (lastOf(requests) ?? 0)).toBeCloseTo((after.generationTokens - before.generationTokens) / answered, 9);
    expect((lastOf(prompts) ?? 0) / (lastOf(requests) ?? 0)).toBeCloseTo((after.promptTokens - before.promptTokens) / answered, 9);
    // Ten in fifteen seconds of the wall, in engine seconds; Prometheus extrapolates to the window's ends.
    expect(lastOf(requests)).toBeGreaterThan(10 / 15 / TIME_SCALE / 1.3);
    expect(lastOf(requests)).toBeLessThan((10 / 15 / TIME_SCALE) * 3);

    const open = new AbortController();
    const held = [1, 2, 3].map(() => chat("long", open.signal).catch(() => ""));
    await until(async () => (await scraped(engine.url)).running === 3);
    const early = await scraped(engine.url);
    await seconds(2.2);
    const [running, kvUse, waiting] = await read(of(engineSubject, "running", "kvUse", "waiting"));
    const late = await scraped(engine.url);
    expect([lastOf(running), lastOf(waiting)]).toEqual([3, 0]);
    expect(lastOf(kvUse)).toBeGreaterThanOrEqual(early.kvUse);
    expect(lastOf(kvUse)).toBeLessThanOrEqual(late.kvUse);
    expect(late.kvUse).toBeGreaterThan(early.kvUse);
    const [queued, inFlight] = await read(of(`stage:${MODEL}`, "queued", "inFlight"));
    expect([lastOf(queued), lastOf(inFlight)]).toEqual([0, 3]);
    const [gpu] = readGpus(parsePromText(await (await fetch(`${dcgmUrl}/metrics`)).text()));
    const [used, total] = await read(of("gpu:n1/0", "memoryUsedBytes", "memoryTotalBytes"));
    expect([lastOf(used), lastOf(total)]).toEqual([gpu?.memoryUsedBytes, gpu?.memoryTotalBytes]);
    const [overhead, gatewayRequests, median, p99] = await read(
      of("gateway", "overheadP95Seconds", "requestsPerSecond", "endToEndP50Seconds", "endToEndP99Seconds"),
    );
    expect(lastOf(overhead)).toBeGreaterThan(0);
    expect(lastOf(median)).toBeGreaterThan(lastOf(overhead) ?? Number.NaN);
    expect(lastOf(p99)).toBeGreaterThanOrEqual(lastOf(median) ?? Number.NaN);
    expect(lastOf(gatewayRequests)).toBeGreaterThan(0);
    open.abort();
    await Promise.all(held);
    await seconds(2);

    // In a wide bucket: least, greatest, mean and last of the samples in it, as many as there were scrapes.
    await seconds(3);
    const [wide] = await read(of(engineSubject, "running"), 10, 5_000);
    const turn = wide?.min.findIndex((least, at) => least === 0 && wide.max[at] === 3) ?? -1;
    expect(turn).not.toBe(-1);
    expect(wide?.mean[turn]).toBeGreaterThan(0);
    expect(wide?.mean[turn]).toBeLessThan(3);
    expect([0, 3]).toContain(wide?.last[turn]);
    // Six if the bucket begins and ends on a scrape.
    expect([5, 6]).toContain(wide?.count[turn]);

    for (const url of [gateway.adminUrl, studioUrl]) expect(await promtool(url)).toEqual([]);
    // Colons and a histogram named as a total are vLLM's, capitals NVIDIA's: the emulator writes what real ones do.
    const own =
      /metric names should not contain ':'$|label names should be written in 'snake_case' not 'camelCase'$|^vllm:iteration_tokens_total /;
    for (const url of [engine.url, dcgmUrl]) expect((await promtool(url)).filter((line) => !own.test(line))).toEqual([]);
    expect((await prometheus.targets()).map(({ health, lastError }) => ({ health, lastError }))).toEqual(
      Array(4).fill({ health: "up", lastError: "" }),
    );
    expect(prometheus.complaints()).toEqual([]);

    // An engine that is gone is a gap, not a zero and not its last value.
    await emulators.stopAll();
    await seconds(3);
    const [gone] = await read(of(engineSubject, "running"), 8);
    expect(gone?.last.at(-1)).toBeNull();
    expect(gone?.last.at(0)).not.toBeNull();
  });
});

/**
 * Shapes that need a rule: ranks that are summed, repeat one value or appear with their sum, processes of which one has the value, shares
 * of two numbers.
 */
const shapes: Readonly<Record<string, string>> = {
  "data-parallel ranks": `
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 0
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
`,
  "processes of which one knows": `
vllm:num_requests_running{pid="1"} 5
vllm:num_requests_running{pid="2"} 0
vllm:num_requests_waiting{pid="1"} 0
vllm:num_requests_waiting{pid="2"} 2
vllm:kv_cache_usage_perc{pid="1"} 0
vllm:kv_cache_usage_perc{pid="2"} 0.5
`,
  "both names of a rename": `
vllm:num_requests_running 1
vllm:num_requests_waiting 0
vllm:gpu_cache_usage_perc 0.1
vllm:kv_cache_usage_perc 0.2
`,
  "ranks and priorities of SGLang": `
sglang:num_running_reqs{tp_rank="0",pp_rank="0",priority="",dp_rank="0"} 6
sglang:num_running_reqs{tp_rank="1",pp_rank="0",priority="",dp_rank="0"} 6
sglang:num_running_reqs{tp_rank="0",pp_rank="0",priority="",dp_rank="1"} 2
sglang:num_running_reqs{tp_rank="0",pp_rank="0",priority="1",dp_rank="0"} 4
sglang:num_queue_reqs{tp_rank="0",priority="1"} 3
sglang:num_queue_reqs{tp_rank="0",priority="2"} 1
sglang:token_usage{tp_rank="0"} 0.5
sglang:token_usage{tp_rank="1"} 0.5
sglang:max_total_num_tokens{tp_rank="0"} 1000
sglang:max_total_num_tokens{tp_rank="1"} 1000
`,
  "blocks of Triton": `
nv_trt_llm_request_metrics{request_type="scheduled"} 7
nv_trt_llm_request_metrics{request_type="waiting"} 8
nv_trt_llm_request_metrics{request_type="max"} 512
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used"} 5
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max"} 20
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per"} 64
`,
  "an engine without a KV gauge": `
llamacpp:requests_processing 2
llamacpp:requests_deferred 1
`,
};
const SAMPLES = "../shared/data/metrics";
const samples = existsSync(SAMPLES)
  ? readdirSync(SAMPLES).filter((name) => /^(vllm|ray|sglang|trt|triton|tgi|llama).*\.prom$/.test(name))
  : [];
if (samples.length === 0) console.log(`Skipped: samples of engines' metrics are not at ${SAMPLES}`);

describe("engines of every type behind a Prometheus", needs(prometheus), () => {
  it("read as the studio itself reads them", async () => {
    const texts = new Map([
      ...Object.entries(shapes),
      ...samples.map((name) => [name, readFileSync(join(SAMPLES, name), "utf8")] as const),
    ]);
    const engines: { id: string; url: string; text: string }[] = [];
    for (const [id, text] of texts) {
      const server = createServer((_, response) => void response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text));
      await listen(server, 0);
      onTestFinished(() => void server.close());
      engines.push({ id, text, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    }
    const prometheus = await startPrometheus(engines.map(({ url }) => url));
    onTestFinished(() => prometheus.end());
    await until(async () => {
      const targets = await prometheus.targets();
      return targets.length === engines.length && targets.every(({ health }) => health !== "unknown");
    });
    await seconds(1);
    const taken = new Set((await prometheus.targets()).filter(({ health }) => health === "up").map(({ scrapeUrl }) => scrapeUrl));
    const source = createPrometheusSource({
      url: prometheus.url,
      timeoutMs: 10_000,
      scrapeSeconds: 1,
      timeScale: () => 1,
      mappings,
      targets: () => ({ engines, gpus: [], models: [], gatewayAdminUrl: nowhere }),
    });
    const toMs = Date.now();
    const read = async (quantity: string) => {
      const series = engines.map(({ id }) => ({ subject: `engine:${id}`, quantity }));
      const answer = await source.range({ fromMs: toMs - 1000, toMs, bucketMs: 1_000, series });
      expect(answer.problems).toEqual([]);
      return answer.series.map((one) => lastOf(one));
    };
    const levels = ["running", "waiting", "kvUse", "kvUseMean", "kvCapacityTokens"] as const;
    const behind = await Promise.all(levels.map(read));
    const kept = engines.map((engine, at) => ({ ...engine, at })).filter(({ url }) => taken.has(`${url}/metrics`));
    expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(shapes)));
    for (const { id, text, at } of kept) {
      const metrics = parsePromText(text);
      const mapping = chooseMapping(metrics, null);
      if (mapping === undefined) continue;
      // What is a label is not a number of Prometheus.
      const numbers = mapping.canonicalMetrics.kvCapacityTokens?.filter(({ labels }) => labels === undefined) ?? [];
      const kvCapacityTokens = numbers.length === 0 ? null : numbers;
      const canonicalMetrics = readCanonicalMetrics(metrics, {
        ...mapping,
        canonicalMetrics: { ...mapping.canonicalMetrics, kvCapacityTokens },
      });
      const own = <Value>(reading: { readonly state: string; readonly value?: Value }) => reading.value ?? null;
      const use = own(canonicalMetrics.kvUse);
      const capacity = own(canonicalMetrics.kvCapacityTokens);
      const expected = [own(canonicalMetrics.running), own(canonicalMetrics.waiting), use?.max ?? null, use?.mean ?? null, capacity];
      expect([id, ...behind.map((values) => values[at])]).toEqual([id, ...expected]);
    }
  });
});

describe("a gateway behind a Prometheus", needs(prometheus), () => {
  it.each([
    ["some were shed", 2, 'weir_gateway_shed_total{objective="none",status="503"}'],
    ["none was ever shed", 0, null],
  ])("tells answers, errors and shed requests apart where %s", async (_, shedAtOnce, shedSeries) => {
    let scrapes = 1_000;
    const server = createServer((_request, response) => {
      scrapes += 1;
      const failed = `weir_gateway_requests_total{served="m",status="503"} ${(1 + shedAtOnce) * scrapes}`;
      const lines = [`weir_gateway_requests_total{served="m",status="200"} ${10 * scrapes}`, failed];
      if (shedSeries !== null) lines.push(`${shedSeries} ${shedAtOnce * scrapes}`);
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(`${lines.join("\n")}\n`);
    });
    await listen(server, 0);
    onTestFinished(() => void server.close());
    const gatewayAdminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const prometheus = await startPrometheus([gatewayAdminUrl]);
    onTestFinished(() => prometheus.end());
    await until(() => scrapes > 1_003);
    const source = createPrometheusSource({
      ...{ url: prometheus.url, timeoutMs: 10_000, scrapeSeconds: 1, timeScale: () => 1, mappings },
      targets: () => ({ engines: [], gpus: [], models: [], gatewayAdminUrl }),
    });
    const toMs = Date.now();
    const series = ["requestsPerSecond", "errorsPerSecond", "shedPerSecond"].map((quantity) => ({ subject: "gateway", quantity }));
    const range = await source.range({ fromMs: toMs - 1000, toMs, bucketMs: 1_000, series });
    expect(range.problems).toEqual([]);
    const [answers, errors, shed] = range.series.map((one) => lastOf(one));
    expect((errors ?? 0) / (answers ?? 0)).toBeCloseTo(0.1, 6);
    if (shedSeries === null) expect(shed).toBeNull();
    else expect((shed ?? 0) / (answers ?? 0)).toBeCloseTo(0.2, 6);
  });
});

/** A studio whose metrics are served as its route serves them; Next itself is the browser tests' part. */
async function startStudio(folder: string): Promise<string> {
  const runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  const { GET } = await import("@/app/metrics/route");
  const server = createServer(async (_, response) => {
    const answer = await GET();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(await answer.text());
  });
  await listen(server, 0);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await runtime.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What promtool finds fault with in an exposition. */
async function promtool(url: string): Promise<readonly string[]> {
  const input = await (await fetch(`${url}/metrics`)).text();
  const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  return `${stdout}\n${stderr}`.split("\n").filter((line) => line !== "");
}

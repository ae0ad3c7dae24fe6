import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Decision, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { LiveFrame } from "@/server/contracts/studio";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { type Collector, createCollector } from "./collector";
import type { ScrapeFacts } from "./studioMetrics";

const INTERVAL_MS = 60;
const servers: Server[] = [];
const collectors: Collector[] = [];

afterEach(async () => {
  for (const collector of collectors.splice(0)) collector.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const exposition = (running: number, finished = 0) =>
  `vllm:num_requests_running{engine="0"} ${running}\nvllm:num_requests_waiting{engine="0"} 2\nvllm:request_success_total{finished_reason="stop"} ${finished}\n`;

const engineAt = (id: string, url: string, node = "node-1") => ({ id, model: "llama-3.1-8b", url, gpus: [{ node, index: 0 }] });

function collect(options: Partial<Parameters<typeof createCollector>[0]>): Collector {
  const collector = createCollector({
    clusterId: "embedded",
    targets: () => [],
    dcgmUrls: [],
    gatewayAdminUrl: "http://127.0.0.1:9",
    adminToken: "secret",
    timeScale: 1,
    intervalMs: INTERVAL_MS,
    ...options,
  });
  collectors.push(collector);
  return collector;
}

/** The first frame for which the condition holds; the test's own time limit ends a wait without result. */
async function frameWhere(collector: Collector, holds: (frame: LiveFrame) => boolean): Promise<LiveFrame> {
  for await (const frame of collector.follow(new AbortController().signal)) if (holds(frame)) return frame;
  throw new Error("the collector closed");
}

const policy = examplePlanDraft().policy;
const [small = "", large = ""] = policy.stages.map((stage) => stage.model);

function decision(sequence: number, change: Partial<Decision> = {}): Decision {
  const stage = { replica: "r", queueSeconds: 0.5, seconds: 1, judgeSeconds: 0.1, inputTokens: 1, outputTokens: 1, reason: "" };
  return {
    sequence,
    id: `d${sequence}`,
    planId: "plan-a",
    policyHash: "hash",
    // Inside any window that has begun by the time it is read.
    finishedAtMs: Date.now() + 1000,
    status: 200,
    reason: "",
    stages: [
      { ...stage, model: small, judgedScore: 40, threshold: 60, verdict: "escalated" },
      { ...stage, model: large, judgedScore: null, threshold: null, verdict: "accepted" },
    ],
    ttftSeconds: 0.2,
    endToEndSeconds: sequence,
    overheadSeconds: 0.001,
    ...change,
  };
}

/** A gateway's admin listener over a list of decisions. */
async function gatewayOver(decisions: readonly Decision[], status: () => Partial<GatewayStatus> = () => ({})): Promise<string> {
  const config = {
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name: "example",
    planId: "plan-a",
    policyHash: "hash",
    policy,
    replicas: [],
    judge: null,
    timeScale: 1,
  };
  return serve((request, response) => {
    const url = new URL(request.url ?? "/", "http://gateway");
    if (request.headers.authorization !== "Bearer secret") response.statusCode = 401;
    const latest = decisions.at(-1)?.sequence ?? 0;
    const after = Number(url.searchParams.get("after"));
    const bodies: Record<string, unknown> = {
      "/status": {
        version: "0.1.0",
        uptimeSeconds: 10,
        configEtag: "e1",
        planId: "plan-a",
        queued: { [small]: 3 },
        replicas: [{ id: "r", model: small, state: "active", inFlight: 4 }],
        lastDecision: latest,
        refused: 0,
        unjudged: 0,
        ...status(),
      },
      "/config": config,
      "/decisions": { decisions: decisions.filter((one) => one.sequence > after).slice(0, 2), latest, missed: 0 },
    };
    response.end(JSON.stringify(bodies[url.pathname]));
  });
}

describe("collector", () => {
  it("reads running and waiting, leaves what is missing absent, and names it", async () => {
    const url = await serve((_, response) => void response.end(exposition(7)));
    const frame = await frameWhere(collect({ targets: () => [engineAt("a", url)] }), (one) => one.engines[0]?.state === "fresh");
    expect(frame.engines[0]).toMatchObject({ running: 7, waiting: 2, kvUse: null, ttftP95Seconds: null });
    expect(frame.engines[0]?.reason).toContain("vllm:kv_cache_usage_perc");
  });

  it("tells of every scrape how long it took, whether it went well, and lines that could not be read", async () => {
    const url = await serve((_, response) => void response.end(`${exposition(1)}this is no sample\n`));
    const told: ScrapeFacts[] = [];
    const targets = () => [engineAt("a", url), engineAt("gone", "http://127.0.0.1:9")];
    await frameWhere(collect({ targets, onScrape: (facts) => void told.push(facts) }), (one) => one.engines[0]?.state === "fresh");
    const engines = told.filter(({ kind }) => kind === "engine");
    expect(engines).toContainEqual({ kind: "engine", seconds: expect.any(Number), ok: true, badLines: 1 });
    expect(engines).toContainEqual({ kind: "engine", seconds: expect.any(Number), ok: false, badLines: 0 });
    expect(told.some(({ kind, ok }) => kind === "gateway" && !ok)).toBe(true);
  });

  it("does not let a target that never answers delay the others", async () => {
    const hanging = await serve(() => undefined);
    const good = await serve((_, response) => void response.end(exposition(1)));
    const collector = collect({ targets: () => [engineAt("slow", hanging), engineAt("good", good)] });
    const timed = await frameWhere(collector, (one) => one.engines[0]?.reason.includes("did not answer") === true);
    expect(timed.engines.map((engine) => engine.state)).toEqual(["unreachable", "fresh"]);
    expect(timed.engines[1]?.ageSeconds).toBeLessThan((4 * INTERVAL_MS) / 1000);
  });

  it("turns a target that answers no more from fresh to stale to unreachable, with the reason, and never to zero", async () => {
    let broken = false;
    const url = await serve((_, response) => {
      response.statusCode = broken ? 500 : 200;
      response.end(exposition(5));
    });
    const collector = collect({ targets: () => [engineAt("a", url)] });
    await frameWhere(collector, (one) => one.engines[0]?.state === "fresh");
    broken = true;
    const stale = await frameWhere(collector, (one) => one.engines[0]?.state === "stale");
    expect(stale.engines[0]).toMatchObject({ running: 5, reason: `${url}/metrics answered 500` });
    const gone = await frameWhere(collector, (one) => one.engines[0]?.state === "unreachable");
    expect(gone.engines[0]).toMatchObject({ running: null, waiting: null });
  });

  it("gives rates in engine seconds and survives a counter that falls back to zero", async () => {
    let finished = 1000;
    const url = await serve((request, response) => {
      if (request.url === "/metrics") finished = finished >= 1020 ? 0 : finished + 6;
      response.end(exposition(1, finished));
    });
    const collector = collect({ targets: () => [engineAt("a", url)], timeScale: 10 });
    const rates: number[] = [];
    for await (const frame of collector.follow(new AbortController().signal)) {
      const perSecond = frame.engines[0]?.requestsPerSecond;
      if (perSecond !== null && perSecond !== undefined) rates.push(perSecond);
      if (rates.length >= 12) break;
    }
    // Six a round at most: 6 / 0.06 s / 10, with slack for a round that came early.
    expect(Math.min(...rates)).toBeGreaterThan(0);
    expect(Math.max(...rates)).toBeLessThan(20);
  });

  it("joins GPUs to the engines that hold them", async () => {
    const dcgm = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="node-1"} 50\nDCGM_FI_DEV_GPU_UTIL{gpu="1",Hostname="node-1"} 0\n';
    const url = await serve((_, response) => void response.end(dcgm));
    const collector = collect({ dcgmUrls: [`${url}/metrics`], targets: () => [engineAt("a", "http://127.0.0.1:9")] });
    const frame = await frameWhere(collector, (one) => one.gpus.length > 0);
    expect(frame.gpus.map((gpu) => [gpu.index, gpu.utilisation, gpu.engineId])).toEqual([
      [0, 0.5, "a"],
      [1, 0, null],
    ]);
    expect(frame.engines[0]?.state).toBe("unreachable");
  });

  it("hears several exporters, one that falls silent hiding none of what the others tell", async () => {
    const one = (node: string) => `DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="${node}"} 50\n`;
    let silent = false;
    const first = await serve((_, response) => void (silent ? response.destroy() : response.end(one("node-1"))));
    const second = await serve((_, response) => void response.end(one("node-2")));
    const collector = collect({ dcgmUrls: [first, second], targets: () => [engineAt("a", "http://127.0.0.1:9")] });
    const both = await frameWhere(collector, (frame) => frame.gpus.length === 2);
    expect(both.gpus.map(({ node, source }) => [node, source]).sort()).toEqual([
      ["node-1", first],
      ["node-2", second],
    ]);
    silent = true;
    const half = await frameWhere(collector, ({ gpuSources }) => gpuSources.some(({ state }) => state === "unreachable"));
    expect(half.gpuSources.map(({ name, state }) => [name, state])).toEqual([
      [first, "unreachable"],
      [second, "fresh"],
    ]);
    expect(new Map(half.gpus.map(({ node, utilisation }) => [node, utilisation]))).toEqual(
      new Map([
        ["node-1", null],
        ["node-2", 0.5],
      ]),
    );
  });

  it("keeps with the newest frame alone which containers have a GPU", async () => {
    const url = await serve(
      (_, response) => void response.end('DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="node-1",pod="p",container="c"} 50\n'),
    );
    const collector = collect({ dcgmUrls: [`${url}/metrics`] });
    await frameWhere(collector, (one) => one.gpus.length > 0);
    await frameWhere(collector, () => true);
    const containers = collector.frames().flatMap(({ gpus }) => gpus.map((gpu) => gpu.containers.length));
    expect(containers).toEqual([...containers.slice(1).fill(0), 1]);
    expect(containers.length).toBeGreaterThan(1);
  });

  it("asks this host's nvidia-smi where no exporter is given and all engines run here", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-path-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "nvidia-smi"), '#!/bin/sh\nprintf "index, utilization.gpu [%%]\\n0, 30 %%\\n"\n', { mode: 0o755 });
    vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const here = collect({ targets: () => [engineAt("a", "http://127.0.0.1:9")] });
    const frame = await frameWhere(here, (one) => one.gpus.length > 0);
    expect(frame).toMatchObject({
      gpuSources: [{ kind: "nvidia-smi", state: "fresh" }],
      gpus: [{ node: "node-1", index: 0, utilisation: 0.3, engineId: "a" }],
    });
    const elsewhere = collect({ targets: () => [engineAt("a", "http://127.0.0.1:9"), engineAt("b", "http://192.0.2.1:8000")] });
    for (let round = 0; round < 5; round += 1) await frameWhere(elsewhere, () => true);
    expect(elsewhere.frames().at(-1)?.gpuSources).toEqual([]);
  });

  it("follows engines that come, go and move", async () => {
    const url = await serve((_, response) => void response.end(exposition(1)));
    let targets = [engineAt("a", url)];
    const collector = collect({ targets: () => targets });
    await frameWhere(collector, (one) => one.engines[0]?.state === "fresh");
    targets = [engineAt("a", "http://127.0.0.1:9"), engineAt("b", url)];
    const moved = await frameWhere(collector, (one) => one.engines[1]?.state === "fresh");
    expect(moved.engines.map(({ id, state, failing }) => [id, state, failing?.kind])).toEqual([
      ["a", "unreachable", "unreachable"],
      ["b", "fresh", undefined],
    ]);
    targets = [];
    expect((await frameWhere(collector, (one) => one.engines.length === 0)).engines).toEqual([]);
  });

  it("takes stages, percentiles and shares from the gateway's decisions, page by page", async () => {
    const adminUrl = await gatewayOver([
      decision(1),
      decision(2),
      decision(3, { planId: "plan-before" }),
      decision(4, { status: 504, startReason: "first-stage", stages: [] }),
      decision(5, {
        finishedAtMs: Date.now() + 1000,
        stages: decision(5)
          .stages.slice(1)
          .map((stage) => ({ ...stage, model: small })),
      }),
    ]);
    const collector = collect({ gatewayAdminUrl: adminUrl, labelOf: (one) => (one.sequence === 1 ? 100 : null) });
    const frame = await frameWhere(collector, (one) => one.measured.requests === 3);
    expect(frame.planId).toBe("plan-a");
    expect(frame.measured).toMatchObject({ p50Seconds: 2, meanQuality: 100 });
    expect(frame.measured.p95Seconds).toBeCloseTo(4.7, 9);
    expect(frame.gateway.stages[0]).toMatchObject({
      model: small,
      queued: 3,
      inFlight: 4,
      share: 1,
      p50Seconds: 1.5,
      p95Seconds: 1.5,
      p99Seconds: 1.5,
      meanJudgedScore: 40,
    });
    expect(frame.gateway.stages[0]?.escalated).toBeCloseTo(2 / 3, 9);
    expect(frame.gateway.stages[1]?.share).toBeCloseTo(2 / 3, 9);
    expect(frame.gateway.overheadP95Seconds).toBe(0.001);
    expect(frame.gateway.errorsPerSecond).toBeCloseTo(1 / 10, 9);
    // The previous plan's request is not part of the measurements, but it was answered.
    expect(frame.gateway.requestsPerSecond).toBeCloseTo(4 / 10, 9);
    expect(collector.decisions(2).map((one) => one.sequence)).toEqual([5, 4]);
  });

  it("forgets what was measured when a window begins", async () => {
    const adminUrl = await gatewayOver([decision(1, { finishedAtMs: Date.now() + 300 })]);
    const collector = collect({ gatewayAdminUrl: adminUrl });
    await frameWhere(collector, (one) => one.measured.requests === 1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    collector.beginWindow();
    const begunMs = Date.now();
    const frame = await frameWhere(collector, (one) => one.atMs >= begunMs);
    expect(frame.measured.windowSeconds).toBeLessThanOrEqual((frame.atMs - begunMs) / 1000 + 0.1);
    expect(frame.measured).toMatchObject({ requests: 0, p50Seconds: null, p95Seconds: null, meanQuality: null });
    // Traffic continues while measuring restarts: the rate must not dip.
    expect(frame.gateway.requestsPerSecond).toBeGreaterThan(0);
  });

  it("tells each engine's health in the gateway's words, and of one the gateway does not know nothing", async () => {
    const states = ["active", "cordoned", "unhealthy"] as const;
    const adminUrl = await gatewayOver([], () => ({ replicas: states.map((state) => ({ id: state, model: small, state, inFlight: 0 })) }));
    const targets = () => [...states, "new"].map((id) => engineAt(id, "http://127.0.0.1:9"));
    const frame = await frameWhere(collect({ gatewayAdminUrl: adminUrl, targets }), (one) => one.gateway.state === "fresh");
    expect(frame.engines.map((engine) => engine.health)).toEqual(["serving", "draining", "unhealthy", "unknown"]);
    const silent = await frameWhere(collect({ targets }), (one) => one.gateway.reason.includes("127.0.0.1:9"));
    expect(silent.engines.map((engine) => engine.health)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
  });

  it("says since which frame the gateway makes that of an engine, and begins anew when it makes something else of it", async () => {
    let state: "active" | "unhealthy" = "active";
    const adminUrl = await gatewayOver([], () => ({ replicas: [{ id: "a", model: small, state, inFlight: 0 }] }));
    const collector = collect({ gatewayAdminUrl: adminUrl, targets: () => [engineAt("a", "http://127.0.0.1:9")] });
    await frameWhere(collector, (one) => one.engines[0]?.health === "serving");
    state = "unhealthy";
    await frameWhere(collector, (one) => one.engines[0]?.health === "unhealthy");
    for (let frame = 0; frame < 3; frame += 1) await frameWhere(collector, () => true);
    const told = collector.frames().map(({ atMs, engines: [one] }) => ({ atMs, health: one?.health, sinceMs: one?.healthSinceMs }));
    const first = (health: string) => told.find((one) => one.health === health)?.atMs;
    expect(told.map(({ sinceMs }) => sinceMs)).toEqual(told.map(({ health = "" }) => first(health)));
    expect(told.map(({ health }) => health)).toEqual(expect.arrayContaining(["unknown", "serving", "unhealthy"]));
    expect(first("unhealthy")).toBeLessThan(told.at(-1)?.atMs ?? 0);
  });

  it("gives refused and unjudged requests a rate, across a restart of the gateway too", async () => {
    let asked = 0;
    const counted = () => {
      asked += 1;
      return { refused: (asked % 4) * 6, unjudged: 1000, uptimeSeconds: 10 + (asked % 4) };
    };
    const collector = collect({ gatewayAdminUrl: await gatewayOver([], counted) });
    const frame = await frameWhere(collector, (one) => asked > 8 && one.gateway.refusedPerSecond !== null);
    expect(frame.gateway.refusedPerSecond).toBeGreaterThan(0);
    expect(frame.gateway.unjudgedPerSecond).toBe(0);
  });

  it("says that the gateway is unreachable, and why, instead of showing empty queues", async () => {
    const frame = await frameWhere(collect({}), (one) => one.gateway.reason.includes("127.0.0.1:9"));
    expect(frame.gateway).toMatchObject({
      state: "unreachable",
      requestsPerSecond: null,
      errorsPerSecond: null,
      refusedPerSecond: null,
      shedPerSecond: null,
      unjudgedPerSecond: null,
    });
    expect(frame.planId).toBeNull();
  });

  it("tells what the gateway was told with the newest frame only, and keeps to it while the gateway is away", async () => {
    const panic = { model: large, by: "ada", reason: "wrong answers", sinceMs: 1 };
    const controls = { panic, canary: null, shadow: null, mirror: null };
    const adminUrl = await gatewayOver([], () => ({ controls }));
    const collector = collect({ gatewayAdminUrl: adminUrl });
    expect(collector.routing()).toBeNull();
    const frame = await frameWhere(collector, (one) => one.gateway.routing !== null);
    expect(frame.gateway.routing).toEqual({ etag: "e1", planId: "plan-a", policyHash: "hash", policy, controls });
    await frameWhere(collector, () => true);
    expect(
      collector
        .frames()
        .slice(0, -1)
        .every(({ gateway }) => gateway.routing === null),
    ).toBe(true);
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    const later = await frameWhere(collector, (one) => one.gateway.state === "unreachable");
    expect(later.gateway.routing?.controls?.panic).toEqual(panic);
  });

  it("follows from a given frame without loss, and ends on abort and on close", async () => {
    const collector = collect({});
    await frameWhere(collector, () => true);
    await frameWhere(collector, () => true);
    const abort = new AbortController();
    const seen: number[] = [];
    for await (const frame of collector.follow(abort.signal, 0)) {
      seen.push(frame.atMs);
      if (seen.length === 4) abort.abort();
    }
    expect(seen).toEqual(
      collector
        .frames()
        .slice(0, 4)
        .map((frame) => frame.atMs),
    );
    const rest = collector.follow(new AbortController().signal);
    const ended = rest.next();
    collector.close();
    expect(await ended).toEqual({ done: true, value: undefined });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepFrames } from "@/server/series/keepFrames";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore } from "@/server/store/store";
import { createCollector } from "@/server/telemetry/collector";
import type { Target } from "@/server/telemetry/engineTarget";
import { freePorts } from "@/server/testing/freePorts";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { endChild, said, startBundle } from "../lib/childProcess";

const NODES = 8;
const GPUS_PER_NODE = 8;
/** Roll-ups are written once a minute. */
const MEASURED_SECONDS = 60;
/** Additional time in which the compiler is still active. */
const WARM_UP_SECONDS = 15;
/** Emulated engines load their weights before they answer; a fast clock makes that short. */
const TIME_SCALE = 20;
const MODEL = "qwen2.5-3b";

export const telemetryBenchmarks: readonly Benchmark[] = [
  {
    name: "64 engines scraped every second",
    budget: atMost(10, "reading and keeping the text of one engine costs more than 1.6 ms of a core"),
    run: scraping,
  },
];

/**
 * Runs 64 emulated engines in a separate process, with text as long as real servers write, and measures the cost of collecting from them
 * and of storing their data for this process.
 */
async function scraping(): Promise<Measurement> {
  const stateDir = mkdtempSync(join(tmpdir(), "weir-bench-"));
  const [adminPort, dcgmPort, enginePort] = await freePorts(3);
  const adminToken = "bench";
  const nodes = Array.from({ length: NODES }, (_, index) => ({ name: `node${index + 1}`, gpus: GPUS_PER_NODE }));
  const emulator = startBundle("emulator", {
    environment: {
      WEIR_STATE_DIR: stateDir,
      WEIR_EMULATOR_PORT: String(adminPort),
      WEIR_DCGM_PORT: String(dcgmPort),
      WEIR_ENGINE_PORT_BASE: String(enginePort),
      WEIR_ADMIN_TOKEN: adminToken,
      WEIR_TIME_SCALE: String(TIME_SCALE),
      WEIR_EMBEDDED: JSON.stringify({ gpu: "l4", nodes }),
    },
  });
  emulator.stdout?.resume();
  const children = [emulator];
  const store = openStore(stateDir);
  const ending = new AbortController();
  try {
    const admin = `http://127.0.0.1:${adminPort}`;
    await until(async () => (await fetch(`${admin}/health`)).ok);
    await give(admin, adminToken);
    const engines: Target[] = [];
    for (const { name } of nodes) {
      for (let gpu = 0; gpu < GPUS_PER_NODE; gpu += 1) engines.push(await start(admin, adminToken, { node: name, gpu }));
    }
    await until(async () => (await Promise.all(engines.map(({ url }) => fetch(`${url}/health`)))).every(({ ok }) => ok));
    const busy = startBundle("busyExpositions", { args: engines.map(({ url }) => new URL(url).port) });
    children.push(busy);
    const [ports = ""] = await said(busy, /ports ([\d,]+)/);
    const targets = ports.split(",").map((port, at) => ({ ...(engines[at] as Target), url: `http://127.0.0.1:${port}` }));
    const rssBefore = process.memoryUsage.rss();
    const collector = createCollector({
      clusterId: "bench",
      targets: () => targets,
      dcgmUrls: [`http://127.0.0.1:${dcgmPort}/metrics`],
      gatewayAdminUrl: admin,
      adminToken,
      timeScale: TIME_SCALE,
    });
    const book = createSeriesBook({ clusterId: "bench", repository: store.rollUps });
    void keepFrames(collector.follow(ending.signal), { book, cluster: () => null });
    await seconds(WARM_UP_SECONDS);
    const before = process.cpuUsage();
    await seconds(MEASURED_SECONDS);
    const used = process.cpuUsage(before);
    const moreMb = (process.memoryUsage.rss() - rssBefore) / 1e6;
    const bytes = (await (await fetch(`${targets[0]?.url}/metrics`)).text()).length;
    const fresh =
      collector
        .frames()
        .at(-1)
        ?.engines.filter(({ state }) => state === "fresh").length ?? 0;
    collector.close();
    const figure = (100 * (used.user + used.system)) / 1e6 / MEASURED_SECONDS;
    return {
      figure,
      unit: "% of one core",
      detail: `${fresh} of ${engines.length} engines fresh, ${bytes} bytes each, GPUs beside them, all of it kept over time; ${moreMb.toFixed(0)} MB more memory after ${WARM_UP_SECONDS + MEASURED_SECONDS} s`,
    };
  } finally {
    ending.abort();
    await Promise.all(children.map(endChild));
    store.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Sends the engines one prompt to answer. */
async function give(admin: string, token: string): Promise<void> {
  const outcomes = {
    name: "bench",
    promptIds: ["p"],
    inputTokens: [100],
    models: [{ model: MODEL, outputTokens: [20], label: [100], judged: [100] }],
  };
  await fetch(`${admin}/outcomes`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(outcomes),
  });
}

async function start(admin: string, token: string, at: { readonly node: string; readonly gpu: number }): Promise<Target> {
  const id = `${at.node}-${at.gpu}`;
  const placements = [{ node: at.node, gpus: [at.gpu] }];
  const answer = await fetch(`${admin}/engines`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ id, model: MODEL, gpu: "l4", tp: 1, pp: 1, placements }),
  });
  if (answer.status !== 202) throw new Error(`engine ${id}: ${answer.status} ${await answer.text()}`);
  const { url } = (await answer.json()) as { readonly url: string };
  return { id, model: MODEL, url, gpus: [{ node: at.node, index: at.gpu }] };
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000 * count));

/** Polls until the condition is true, for at most 30 s. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await holds().catch(() => false)) return;
    await seconds(0.1);
  }
  throw new Error("The emulated engines did not come up within 30 s.");
}

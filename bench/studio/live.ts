import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { freePorts } from "@/server/testing/freePorts";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { said } from "../lib/childProcess";
import { processTree, usedBetween } from "../lib/processTree";

const MEASURED_SECONDS = 30;
/** The initial span of the page: lines over half of it would cost half as much. */
const SPAN_SECONDS = 300;
const LEAST_CHARTS = 10;
/** Speed of the cluster's clock relative to wall time, so that engines are up soon. */
const TIME_SCALE = 2;
const REQUESTS_PER_SECOND = 4;
/** So tall that all charts are visible. */
const viewport = { width: 1440, height: 3000 } as const;

export const liveBenchmarks: readonly Benchmark[] = [
  {
    name: "live page at 2 Hz",
    budget: atMost(30, "a frame draws all charts from scratch, or lays out the page again"),
    run: liveAtTwoHertz,
  },
];

declare global {
  var drawings: Map<Element, number>;
}

/** Opens Live of a studio under load, in Chromium without a GPU, and measures the cost of drawing once its charts are full. */
async function liveAtTwoHertz(): Promise<Measurement> {
  const { chromium } = await import("@playwright/test");
  const studio = await startStudio();
  const server = await chromium.launchServer({ executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const browserPid = server.process().pid ?? 0;
  try {
    const browser = await chromium.connect(server.wsEndpoint());
    const page = await (await browser.newContext({ viewport })).newPage();
    page.setDefaultTimeout(120_000);
    await applyPlan(page, studio.signInLink);
    await startLoad(page);
    await page.waitForTimeout(SPAN_SECONDS * 1000);

    const metrics = await page.context().newCDPSession(page);
    await metrics.send("Performance.enable");
    const read = async () => new Map((await metrics.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    await countDrawings(page);
    const [before, used, began] = [await read(), processTree(browserPid), performance.now()];
    await page.waitForTimeout(MEASURED_SECONDS * 1000);
    const [after, usedThen, seconds] = [await read(), processTree(browserPid), (performance.now() - began) / 1000];
    const drawings = await page.evaluate(() => [...globalThis.drawings.values()].sort((a, b) => a - b));
    if (drawings.length < LEAST_CHARTS) throw new Error(`Only ${drawings.length} charts were drawn, of ${LEAST_CHARTS} at least.`);

    const share = (of: number): number => (100 * of) / seconds;
    const took = (name: string): string => `${share((after.get(name) ?? 0) - (before.get(name) ?? 0)).toFixed(1)} %`;
    const lines = await page.locator("path[data-series]").count();
    const median = (drawings[drawings.length >> 1] ?? 0) / seconds;
    return {
      figure: share(usedBetween(used, usedThen)),
      unit: "% of one core",
      detail: `all processes of Chromium, ${share(usedBetween(used, usedThen, "--type=renderer")).toFixed(1)} % its renderer; main thread ${took("TaskDuration")}, script ${took("ScriptDuration")}, layout ${took("LayoutDuration")}, style ${took("RecalcStyleDuration")}; ${drawings.length} charts with ${lines} lines of ${SPAN_SECONDS} s drawn ${median.toFixed(2)} times a second, over ${MEASURED_SECONDS} s`,
    };
  } finally {
    await server.close();
    await studio.end();
  }
}

/** Plans the first workload, approves and applies the plan. */
async function applyPlan(page: Page, signInLink: string): Promise<void> {
  await page.goto(signInLink);
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
  await page.waitForURL(/\/plan/);
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/plan?rate=${REQUESTS_PER_SECOND}&floor=60`);
  await page.getByTestId("figure-solved").filter({ hasText: /\d/ }).waitFor();
  await page.getByRole("button", { name: "Review and apply" }).click();
  await page.waitForURL(/\/apply\/[0-9a-f]{64}/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await page.getByTestId("application-state").filter({ hasText: "done" }).first().waitFor();
}

async function startLoad(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/live`);
  await page.getByLabel("Rate", { exact: true }).fill(String(REQUESTS_PER_SECOND));
  await page.getByLabel("For", { exact: true }).fill(String(10 * SPAN_SECONDS * TIME_SCALE));
  await page.getByRole("button", { name: "Start load" }).click();
  await page.getByTestId("load-status").filter({ hasText: "running" }).waitFor();
}

/** Counts from now on how often the lines of each chart change; several lines changed at once are one drawing. */
async function countDrawings(page: Page): Promise<void> {
  await page.evaluate(() => {
    globalThis.drawings = new Map();
    const observer = new MutationObserver((changes) => {
      const charts = new Set(changes.flatMap(({ target }) => (target as Element).closest("path[data-series]")?.closest("svg") ?? []));
      for (const chart of charts) globalThis.drawings.set(chart, (globalThis.drawings.get(chart) ?? 0) + 1);
    });
    observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ["d"] });
  });
}

/** A studio of this build with the embedded cluster, scraped twice a second, with its own state folder. */
async function startStudio(): Promise<{ readonly signInLink: string; end(): Promise<void> }> {
  const stateDir = mkdtempSync(join(tmpdir(), "weir-bench-live-"));
  const names = [
    "WEIR_STUDIO_PORT",
    "WEIR_GATEWAY_PORT",
    "WEIR_GATEWAY_ADMIN_PORT",
    "WEIR_EMULATOR_PORT",
    "WEIR_DCGM_PORT",
    "WEIR_ENGINE_PORT_BASE",
  ];
  const found = await freePorts(names.length);
  const ports = names.map((name, at) => [name, String(found[at])]);
  const root = process.env.WEIR_ROOT ?? process.cwd();
  const launcher = spawn(process.execPath, [join(root, "scripts", "studio.mjs")], {
    cwd: root,
    env: {
      ...process.env,
      ...Object.fromEntries(ports),
      WEIR_STATE_DIR: stateDir,
      WEIR_TIME_SCALE: String(TIME_SCALE),
      WEIR_SCRAPE_SECONDS: "0.5",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = async (): Promise<void> => {
    await endLauncher(launcher);
    rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    const [signInLink = ""] = await said(launcher, /Sign in\s+(http\S+)/);
    return { signInLink, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The launcher ends its children itself, within its own limit. */
async function endLauncher(launcher: ChildProcess): Promise<void> {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return;
  const gone = once(launcher, "exit");
  launcher.kill("SIGTERM");
  await gone;
}

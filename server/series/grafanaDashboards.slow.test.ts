import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { listen } from "@/server/contracts/http/apiServer";
import type { PlanPromise, PromiseReport } from "@/server/contracts/studio/promise";
import { TestEmulators } from "@/server/emulator/testEmulators";
import { startEmulatedCascade } from "@/server/gateway/testing/emulatedCascade";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime } from "@/server/runtime";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { freePort } from "@/server/testing/freePorts";
import { expressions, over } from "./testing/dashboards";
import { prometheus, startPrometheus } from "./testing/testPrometheus";

const nowhere = "http://127.0.0.1:9";
const range = "20s";

/** Expressions without a result under this load, and why. */
const empty: Readonly<Record<string, string>> = {
  "sum by (status) (rate(weir_gateway_shed_total[$__rate_interval]))": "every queue has room, so that no request is shed",
};

const addressOf = (server: ReturnType<typeof createServer>): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function serve(text: () => Promise<string>): Promise<string> {
  const server = createServer(async (_, response) => void response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(await text()));
  await listen(server, 0);
  onTestFinished(() => void server.close().closeAllConnections());
  return addressOf(server);
}

/** The metrics of a real studio that watches nothing, after one question to its planner. */
async function startStudio(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-dashboards-studio-"));
  const runtime = createRuntime(studioSettings({ WEIR_STATE_DIR: folder, WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere }));
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  const { clusters, workloads, plans } = runtime.services;
  const made = clusters.describe({ name: "two", rows: [{ gpu: "l4", nodes: 1, gpusPerNode: 2, usdPerGpuHour: 1 }] }, "operator");
  if (!made.ok) throw new Error(made.message);
  const request = { workloadId: workloads.list()[0]?.id ?? "", clusterId: made.id, requestsPerSecond: 1 };
  const askPlanner = async (): Promise<void> => {
    for await (const event of plans.explore(request, new AbortController().signal)) if (event.kind !== "progress") break;
  };
  return serve(async () => {
    // A question between two reads, so that its duration has a rate.
    await askPlanner();
    return (await runtime.metrics()).text;
  });
}

const promised = { "end-to-end": 2, quality: 84, "accepted-score": 80, "failed-share": 0.01, "cost-per-hour": 3 } as const;

/** A studio's metrics of a plan in force: its figures are given, since no plan is applied here. */
function startPlanFigures(): Promise<string> {
  const promises = Object.entries(promised).map(
    ([quantity, value]): PlanPromise => ({
      ...{ quantity: quantity as keyof typeof promised, model: null, name: quantity, kind: "score", promised: value, measured: value * 1.1 },
      ...{ band: null, interval: null, verdict: "kept", reason: "" },
    }),
  );
  const studio = createStudioMetrics({
    frames: () => [],
    applications: { counts: () => [] } as never,
    series: () => [],
    promises: () => [{ cluster: "c1", report: { promises } as unknown as PromiseReport }],
  });
  return serve(async () => (await studio.exposition()).text);
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

describe("every expression of the dashboards", needs(prometheus), () => {
  it("has a result in a Prometheus that scrapes a gateway under load, or is named as empty", async () => {
    const emulators = new TestEmulators(await freePort());
    onTestFinished(() => emulators.end());
    const cascade = await startEmulatedCascade(emulators);
    await listen(cascade.cluster.gpus.server, 0);
    const [studioUrl, figuresUrl] = [await startStudio(), await startPlanFigures()];
    const engineUrls = cascade.engines.map(({ url }) => url);
    const own = await startPrometheus([...engineUrls, addressOf(cascade.cluster.gpus.server), cascade.gateway.adminUrl, studioUrl, figuresUrl]);
    onTestFinished(() => own.end());

    /** Whether it has a value that is a number. */
    const hasResult = async (expr: string): Promise<boolean> => {
      const query = new URLSearchParams({ query: over(expr, range) });
      const answer = (await (await fetch(`${own.url}/api/v1/query?${query}`)).json()) as Answer;
      if (answer.status !== "success") throw new Error(`${expr}: ${answer.error}`);
      return (answer.data?.result ?? []).some(({ value }) => !Number.isNaN(Number(value[1])));
    };
    let lacking: readonly string[] = expressions.map(({ expr }) => expr).filter((expr) => !(expr in empty));
    expect(lacking.length).toBeGreaterThan(40);
    // The test's own time limit ends it, and this line then names what has no result.
    const endMs = performance.now() + 90_000;
    while (lacking.length > 0 && performance.now() < endMs) {
      await cascade.sendLoad("load");
      const found = await Promise.all(lacking.map(hasResult));
      lacking = lacking.filter((_, at) => !found[at]);
    }
    expect(lacking).toEqual([]);
    for (const expr of Object.keys(empty)) expect([expr, await hasResult(expr)]).toEqual([expr, false]);
    expect(Object.keys(empty).filter((expr) => !expressions.some((one) => one.expr === expr))).toEqual([]);
    expect(own.complaints()).toEqual([]);
  });
});

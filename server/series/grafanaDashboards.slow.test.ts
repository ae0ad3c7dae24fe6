import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { listen } from "@/server/contracts/http/apiServer";
import type { LiveFrame } from "@/server/contracts/studio";
import type { PlanPromise, PromiseReport } from "@/server/contracts/studio/promise";
import { TestEmulators } from "@/server/emulator/testEmulators";
import { startLoadedCascade } from "@/server/gateway/testing/loadedCascade";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { freePort } from "@/server/testing/freePorts";
import { expressions, over } from "./testing/dashboards";
import { prometheus, startPrometheus } from "./testing/testPrometheus";

const scrapeSeconds = 2;
const range = "20s";

/** Expressions without a result under this load, and why. */
const empty: Readonly<Record<string, string>> = {
  "sum by (status) (rate(weir_gateway_shed_total[$__rate_interval]))": "every queue has room, so that no request is shed",
};

const addressOf = (server: ReturnType<typeof createServer>): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function serve(text: () => Promise<string>): Promise<string> {
  const server = createServer(
    async (_, response) => void response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(await text()),
  );
  await listen(server, 0);
  onTestFinished(() => void server.close().closeAllConnections());
  return addressOf(server);
}

const promised = { "end-to-end": 2, quality: 84, "accepted-score": 80, "failed-share": 0.01, "cost-per-hour": 3 } as const;

/** A studio's own metrics. Its figures are given, since no plan is applied here; each read follows a question to a planner. */
function startStudioMetrics(): Promise<string> {
  const promises = Object.entries(promised).map(
    ([quantity, value]): PlanPromise => ({
      ...{
        quantity: quantity as keyof typeof promised,
        model: null,
        name: quantity,
        kind: "score",
        promised: value,
        measured: value * 1.1,
      },
      ...{ band: null, interval: null, verdict: "kept", reason: "" },
    }),
  );
  const frame = { clusterId: "c1", engines: [{ state: "fresh" }], gpuSources: [], gateway: { state: "fresh" } };
  const studio = createStudioMetrics({
    frames: () => [frame as unknown as LiveFrame],
    applications: { counts: () => [] } as never,
    series: () => [],
    promises: () => [{ cluster: "c1", report: { promises } as unknown as PromiseReport }],
  });
  const answer = async (): Promise<void> => undefined;
  const planner = studio.counting({ explore: answer, solve: answer, examine: answer, serve: answer });
  return serve(async () => {
    await planner.explore();
    return (await studio.exposition()).text;
  });
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
    const { stages, cluster, timeScale } = await emulators.cascade(20);
    const cascade = await startLoadedCascade({ stages, timeScale });
    await listen(cluster.gpus.server, 0);
    const urls = [...stages.map(({ url }) => url), addressOf(cluster.gpus.server), cascade.gateway.adminUrl, await startStudioMetrics()];
    const own = await startPrometheus(urls, scrapeSeconds);
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

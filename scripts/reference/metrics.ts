import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type Metric, Registry } from "prom-client";
import { startGateway } from "@/server/gateway/gateway";
import { Tally } from "@/server/gateway/lib/tally";
import { Traces } from "@/server/gateway/request/traces";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { code, page, plain, table } from "./markdown";

interface Described {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** The page of the metrics, as a gateway and a studio register them. */
export async function metricsPage(): Promise<string> {
  const [gateway, studio] = [await registeredBy(startedGateway), await registeredBy(startedStudio)];
  const rows = (metrics: readonly Described[]): string =>
    table(
      ["metric", "type", "meaning", "labels"],
      metrics.map(({ name, type, help, labels }) => [code(name), type, plain(help), labels.map(code).join(", ")]),
    );
  return page([
    "# Metrics",
    "Gateway and studio serve Prometheus text. Seconds are engine seconds unless the meaning says otherwise. Values of labels come from the configuration and from fixed lists, never from what clients write. Both also serve the metrics of their Node process (`process_…`, `nodejs_…`).",
    "## Gateway",
    "`GET /metrics` on the admin port (4611), open without the token.",
    rows(gateway),
    "## Studio",
    "`GET /metrics` on the studio's port (4600), open without signing in.",
    rows(studio),
  ]);
}

/** The metrics besides those of the process that `start` registers with prom-client. */
async function registeredBy(start: () => Promise<void>): Promise<readonly Described[]> {
  const found = new Map<string, Described>();
  const register = Registry.prototype.registerMetric;
  Registry.prototype.registerMetric = function <T extends string>(this: Registry, metric: Metric<T>): void {
    const described = metric as unknown as { name: string; help: string; type?: string; labelNames: string[] };
    const { name, help, labelNames } = described;
    // Metrics of prom-client register before they set their type.
    const type = described.type ?? metric.constructor.name.replace(/^_/, "").toLowerCase();
    if (/^(weir|gen_ai)_/.test(name)) found.set(name, { name, type, help, labels: [...labelNames] });
    register.call(this, metric as never);
  };
  try {
    await start();
  } finally {
    Registry.prototype.registerMetric = register;
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function startedGateway(): Promise<void> {
  const stateDirectory = await mkdtemp(join(tmpdir(), "weir-reference-"));
  // It exports nothing: only its counter is needed.
  const traces = new Traces({ queue: { spans: new Tally(["outcome"]), shutdown: async () => {} } } as never);
  const gateway = await startGateway({
    dataPort: 0,
    adminPort: 0,
    stateDirectory,
    adminToken: null,
    studio: null,
    log: pino({ level: "silent" }),
    // Nothing listens there: only the metrics are needed.
    sharing: { url: "redis://127.0.0.1:1", scope: "reference" },
    traces,
  });
  await gateway.close(0);
  await rm(stateDirectory, { recursive: true });
}

async function startedStudio(): Promise<void> {
  createStudioMetrics({ frames: () => [], applications: { counts: () => [] } as never, series: () => [], promises: () => [] });
}

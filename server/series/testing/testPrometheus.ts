import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { file } from "@/scripts/needs.mjs";
import { freePort } from "@/server/testing/freePorts";

/** Debian's package; another place by the environment. */
const PROMETHEUS = process.env.PROMETHEUS_PATH ?? "/usr/bin/prometheus";

export const prometheus = file(PROMETHEUS);

export interface TestPrometheus {
  readonly url: string;
  /** Lines of its log that warn or say an error. */
  complaints(): readonly string[];
  /** What it says of each target: its health and last error. */
  targets(): Promise<readonly { readonly scrapeUrl: string; readonly health: string; readonly lastError: string }[]>;
  end(): Promise<void>;
}

/** Starts a real Prometheus that scrapes these addresses' `/metrics`, on the loopback address and in its own folder. */
export async function startPrometheus(scraped: readonly string[], scrapeSeconds = 1): Promise<TestPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), "weir-prometheus-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    global: { scrape_interval: `${scrapeSeconds}s`, scrape_timeout: `${scrapeSeconds}s` },
    scrape_configs: [{ job_name: "weir", static_configs: [{ targets: scraped.map((one) => new URL(one).host) }] }],
  };
  writeFileSync(join(folder, "prometheus.yml"), stringify(config));
  const child: ChildProcess = spawn(
    PROMETHEUS,
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = async () => (await fetch(`${url}/-/ready`).catch(() => null))?.status === 200;
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    complaints: () => log.split("\n").filter((line) => /level=(warn|error)/.test(line)),
    async targets() {
      const answer = (await (await fetch(`${url}/api/v1/targets`)).json()) as {
        readonly data: { readonly activeTargets: readonly { scrapeUrl: string; health: string; lastError: string }[] };
      };
      return answer.data.activeTargets.map(({ scrapeUrl, health, lastError }) => ({ scrapeUrl, health, lastError }));
    },
    async end() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

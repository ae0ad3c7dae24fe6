import type { ChildProcess } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { planOnGpus, startTestCluster } from "@/server/clusters/testing/testCluster";
import { JUDGE_MODEL } from "@/server/confidenceJudge/judgePrograms";
import type { WorkloadSummary } from "@/server/contracts/studio";
import type { ProcessConnection } from "@/server/processes/processConnection";
import { killEngines, recordedEngines } from "@/server/processes/testing/recordedEngines";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { freePorts } from "@/server/testing/freePorts";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { endChild, said, startBundle } from "../lib/childProcess";
import { resultsFolder } from "../lib/results";
import { type ConnectionNeeds, realModels } from "./realEngines";
import type { StudioOrder, StudioStart } from "./studioProcess";

/** The launcher starts a gateway or a studio again after this time (`scripts/supervisor.mjs`). */
const restartMs = 300;

/** An engine that does not answer its health check in this time still loads. */
const healthMs = 1_000;

const clusterId = "embedded";
const at = "2026-01-01T00:00:00.000Z";

/** The large model alone on both cores, and the cascade with one core each. */
export const plans = {
  single: planOnGpus("single", { [realModels.large]: [0, 1] }, "node1", PROCESSOR_CARD),
  cascade: planOnGpus("cascade", { [realModels.small]: [0], [realModels.large]: [1] }, "node1", PROCESSOR_CARD),
} as const;

type TestCluster = Awaited<ReturnType<typeof startTestCluster>>;

/** A gateway, a judge, the studio's apply runner and the engines that it starts, each a process that can be killed. */
export class Scene {
  readonly #cluster: TestCluster;
  readonly #start: StudioStart;
  readonly #judge: ChildProcess;
  #studio: ChildProcess | undefined;

  private constructor(cluster: TestCluster, start: StudioStart, judge: ChildProcess) {
    this.#cluster = cluster;
    this.#start = start;
    this.#judge = judge;
  }

  /** Starts everything except engines. */
  static async start(connect: (needs: ConnectionNeeds) => ProcessConnection): Promise<Scene> {
    const cluster = await startTestCluster({ gpus: 2 });
    const [judgePort = 0, from = 0] = await freePorts(2);
    // Through the gateway it is asked wherever the small model runs now.
    const asked = ["--engine", cluster.gatewayUrl, "--model", realModels.small, "--port", `${judgePort}`];
    const judge = startBundle("judge", { args: asked });
    judge.stdout?.resume();
    const folder = cluster.environment.WEIR_STATE_DIR;
    const connection = connect({
      ports: { from, to: from + 40 },
      judge: { model: JUDGE_MODEL, url: `http://127.0.0.1:${judgePort}` },
    });
    const { gatewayAdminUrl, token, store } = cluster;
    const scene = new Scene(
      cluster,
      { folder, engines: join(folder, "engines", clusterId), gatewayAdminUrl, token, clusterId, connection },
      judge,
    );
    store.clusters.insert({ ...plans.single.inputs.cluster, id: clusterId, kind: "embedded", gpu: PROCESSOR_CARD }, at);
    store.workloads.insert({ id: "w", createdAt: at, name: "w" } as WorkloadSummary, Buffer.from(""));
    for (const plan of Object.values(plans)) {
      store.plans.keep(plan);
      store.approvals.insert({ planId: plan.id, clusterId, actor: "bench", at, reason: "" });
    }
    await scene.#startStudio();
    return scene;
  }

  get gatewayUrl(): string {
    return this.#cluster.gatewayUrl;
  }

  /** The application that was begun last; null: none was. */
  get latest(): StoredApplication | null {
    return this.#cluster.store.applications.list(clusterId)[0] ?? null;
  }

  /** Engines that were started and did not end, by their own account. */
  engines(): ReturnType<typeof recordedEngines> {
    return recordedEngines(this.#start.engines);
  }

  application(id: string): StoredApplication | null {
    return this.#cluster.store.applications.get(id);
  }

  /** When the process of an engine was started last, and its address; null: it was not, or is not known yet. */
  begunEngine(engineId: string): { readonly atMs: number; readonly url: string } | null {
    const record = this.engines().find(({ order }) => order.id === engineId);
    if (record === undefined || record.process === null) return null;
    return { atMs: Date.parse(record.startedAt), url: `http://127.0.0.1:${record.port}` };
  }

  /** Whether an engine says that it can take requests. */
  async isHealthy(url: string): Promise<boolean> {
    try {
      return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(healthMs) })).ok;
    } catch {
      return false;
    }
  }

  /** An operator's act. */
  order(order: StudioOrder): void {
    this.#studio?.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** Resolves when it answers again. */
  async killGateway(): Promise<void> {
    await this.#cluster.restart("gateway", restartMs);
  }

  /** Resolves when its successor has read what it left. */
  async killStudio(): Promise<void> {
    if (this.#studio !== undefined) await endChild(this.#studio);
    await sleep(restartMs);
    await this.#startStudio();
  }

  /** Kills the main process of an engine alone, as the kernel does when memory runs out. */
  killEngine(engineId: string): void {
    const pid = this.engines().find(({ order }) => order.id === engineId)?.process?.pid;
    if (pid === undefined) throw new Error(`${engineId} has no process that could be killed.`);
    process.kill(pid, "SIGKILL");
  }

  /** Kills everything; logs of engines that failed are kept among the results. */
  async end(keepLogsAs: string | null): Promise<void> {
    if (this.#studio !== undefined) await endChild(this.#studio);
    await endChild(this.#judge);
    killEngines(this.#start.engines);
    if (keepLogsAs !== null) cpSync(this.#start.engines, join(resultsFolder("tables"), keepLogsAs), { recursive: true });
    await this.#cluster.stop();
  }

  async #startStudio(): Promise<void> {
    const studio = startBundle("realStudio", { args: [JSON.stringify(this.#start)] });
    this.#studio = studio;
    await said(studio, /^(up)$/m);
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orderSigner, studioKey } from "@/server/lib/studioKey";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { openStore } from "@/server/store/store";
import { freePorts } from "@/server/testing/freePorts";
import { heldOutOutcomes } from "@/server/workloads/heldOutOutcomes";
import type { ModelDeployment } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { generatedWorkload } from "@/solver/workload/generated";
import { createAdminClient } from "../connector/adminClient";
import { createConnector } from "../connector/clusterConnector";
import { createEmulatorHost } from "../connector/emulatorHost";
import type { EngineHost } from "../connector/engineHost";

const token = "test-token";

/** Engine seconds per wall second. */
export const timeScale = 50;

async function untilHealthy(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answer?.ok) return;
    await new Promise((wake) => setTimeout(wake, 100));
  }
  throw new Error(`${url} did not come up`);
}

export interface TestClusterOptions {
  /** GPUs of its one node. */
  readonly gpus?: number;
  readonly timeScale?: number;
  readonly prompts?: number;
  /** Models of its workload, smallest first. */
  readonly ladder?: readonly string[];
  /** Whether the gateway follows only orders that the studio of its folder signs; left out: it does. */
  readonly signed?: boolean;
  /** Gets all output of the processes, which are then set to log everything. */
  readonly onOutput?: (text: string) => void;
}

/** The real emulator and the real gateway in their own processes, and a store, all in a temporary folder. */
export async function startTestCluster(options: TestClusterOptions = {}) {
  const { gpus = 4, timeScale: scale = timeScale, prompts = 100, ladder = ["qwen2.5-3b", "qwen2.5-7b"], signed = true, onOutput } = options;
  const folder = mkdtempSync(join(tmpdir(), "weir-cluster-"));
  const [gatewayPort = 0, gatewayAdminPort = 0, emulatorPort = 0, dcgmPort = 0, enginePort = 0] = await freePorts(5);
  const sign = orderSigner(studioKey(folder));
  const environment = {
    ...process.env,
    WEIR_STUDIO_PUBLIC_KEY: signed ? join(folder, "studio-key.pub") : "none",
    WEIR_CLUSTER_ID: "embedded",
    WEIR_STATE_DIR: folder,
    WEIR_ADMIN_TOKEN: token,
    WEIR_GATEWAY_PORT: String(gatewayPort),
    WEIR_GATEWAY_ADMIN_PORT: String(gatewayAdminPort),
    WEIR_EMULATOR_PORT: String(emulatorPort),
    WEIR_DCGM_PORT: String(dcgmPort),
    WEIR_ENGINE_PORT_BASE: String(enginePort),
    WEIR_TIME_SCALE: String(scale),
    WEIR_EMBEDDED: JSON.stringify({ gpu: "l40s", nodes: [{ name: "node1", gpus }] }),
    WEIR_LOG_LEVEL: onOutput === undefined ? "silent" : "trace",
  };
  const start = (name: string): ChildProcess => {
    const child = spawn(process.execPath, [join("dist", `${name}.mjs`)], {
      env: environment,
      stdio: onOutput === undefined ? "ignore" : ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => onOutput?.(chunk.toString()));
    return child;
  };
  const processes = { emulator: start("emulator"), gateway: start("gateway") };
  const emulatorUrl = `http://127.0.0.1:${emulatorPort}`;
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const gatewayAdminUrl = `http://127.0.0.1:${gatewayAdminPort}`;
  const healthUrls = { emulator: `${emulatorUrl}/health`, gateway: `${gatewayUrl}/health` };
  await Promise.all(Object.values(healthUrls).map(untilHealthy));

  const store = openStore(folder);
  const workload = generatedWorkload({ prompts, ladder, seed: 1 });
  const gateway = createAdminClient("gateway", gatewayAdminUrl, token, { clusterId: "embedded", sign });
  const host = createEmulatorHost({
    emulator: createAdminClient("emulator", emulatorUrl, token),
    heldOutOutcomes: (name) => heldOutOutcomes({ ...workload, name }),
  });
  /** Engines of some host behind the gateway. */
  const connectorOver = (over: EngineHost) =>
    createConnector({
      host: over,
      gateway,
      planOf: (id) => store.plans.get(id),
      artefactOf: (hash) => store.artefacts.get(hash)?.bytes ?? null,
    });
  return {
    store,
    connector: connectorOver(host),
    gateway,
    workload,
    gatewayUrl,
    gatewayAdminUrl,
    emulatorUrl,
    token,
    environment,
    /**
     * The needs of a connector's contract, with engines on some host or emulated: a saved plan of one engine on a GPU of a node, and a
     * client of its cascade.
     */
    underContract(over: EngineHost = host, node = "node1") {
      const plan = planOnGpus("one", { "qwen2.5-3b": [1] }, node);
      store.plans.keep(plan);
      return { connector: connectorOver(over), host: over, plan, ask: async () => (await askCascade(gatewayUrl, "one")).status };
    },
    /** Requests during the freeze are answered after `thaw`, if they are still open then. */
    freezeGateway: () => processes.gateway.kill("SIGSTOP"),
    thawGateway: () => processes.gateway.kill("SIGCONT"),
    /** Kills a process without a clean shutdown, and starts it again after a time. */
    async restart(name: keyof typeof processes, afterMs = 0) {
      await endOf(processes[name], "SIGKILL");
      await new Promise((wake) => setTimeout(wake, afterMs));
      processes[name] = start(name);
      await untilHealthy(healthUrls[name]);
    },
    async stop() {
      await Promise.all(Object.values(processes).map((child) => endOf(child, "SIGTERM")));
      store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function endOf(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}

/** Sends one request for a plan's cascade. */
export async function askCascade(gatewayUrl: string, name: string): Promise<{ readonly status: number; readonly text: string }> {
  const body = JSON.stringify({ model: `cascade/${name}`, messages: [{ role: "user", content: "hello" }], max_tokens: 2 });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${gatewayUrl}/v1/chat/completions`, { method: "POST", headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** A plan of one-GPU engines: `{ "qwen2.5-3b": [0, 1] }` puts two of them on the first two GPUs of a node. */
export function planOnGpus(name: string, gpusOf: Readonly<Record<string, readonly number[]>>, node = "node1", gpu = "l40s") {
  const draft = examplePlanDraft();
  const deployment = Object.entries(gpusOf).map(([model, gpus]): ModelDeployment => {
    const placements = gpus.map((gpu) => [{ node, gpus: [gpu] }]);
    const group = { tp: 1, pp: 1, count: gpus.length, shareEach: 1 / gpus.length, placements };
    return { model, precision: "bf16", gpu, gpus: gpus.length, replicas: [group] };
  });
  const stages = deployment.map(({ model }) => ({ model }));
  const thresholds = stages.slice(1).map(() => 60);
  const policy = { ...draft.policy, stages, thresholds, approvedRanges: { thresholds: thresholds.map(() => ({ min: 50, max: 70 })) } };
  return sealPlan({ ...draft, metadata: { name }, deployment, policy }, new Date("2026-01-01T00:00:00Z"));
}

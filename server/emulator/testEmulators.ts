import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import type { EmulatedCluster, EmulatedEngine, EngineRequest } from "@/server/contracts/engine/emulatorAdmin";
import { listen, shut } from "@/server/contracts/http/apiServer";
import { type GpuCard, gpuCards } from "@/solver/hardware/gpus";
import { createAdminServer } from "./adminServer";
import { type Cluster, createCluster } from "./emulatedCluster";
import { createStateStore } from "./stateStore";

const TOKEN = "secret";
const L40S = gpuCards.l40s as GpuCard;
export const MODEL = "gemma-2-2b";

/** Loading takes a wall second at least, whatever the time scale. */
const WAIT_LIMIT_MS = 5000;

/** Emulators of one test, over one state folder; `end` in `afterEach`. */
export class TestEmulators {
  private readonly folder = mkdtempSync(join(tmpdir(), "weir-emulator-"));
  private readonly open: { readonly cluster: Cluster; readonly admin: Server }[] = [];

  /** @param enginePortBase the first port of its engines, of a block that no other test process has (`freePort`). */
  constructor(private readonly enginePortBase: number) {}

  /** An emulator at a time scale, and calls to its admin listener. */
  async start(timeScale = 20, noiseEnabled = false) {
    const cluster = await createCluster(
      {
        stateDir: this.folder,
        adminPort: 0,
        dcgmPort: 1,
        enginePortBase: this.enginePortBase,
        timeScale,
        noise: { enabled: noiseEnabled, seed: 1 },
        adminToken: TOKEN,
        gpu: L40S,
        cluster: { gpu: L40S.id, nodes: [{ name: "n1", gpus: 2 }] },
      },
      createStateStore(this.folder),
    );
    const admin = createAdminServer(Promise.resolve(cluster), TOKEN);
    await listen(admin, 0);
    this.open.push({ cluster, admin });
    const url = `http://127.0.0.1:${(admin.address() as AddressInfo).port}`;
    const call = (method: string, path: string, body?: unknown): Promise<Response> =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    return { cluster, url, call, describe: async () => (await (await call("GET", "/cluster")).json()) as EmulatedCluster };
  }

  /** An emulator with outcomes and one engine that is ready. */
  async serving(timeScale?: number, tokens?: readonly [number, number]) {
    const one = await this.start(timeScale);
    await one.call("PUT", "/outcomes", outcomes(tokens));
    const { url } = (await (await one.call("POST", "/engines", engineOn(0))).json()) as EmulatedEngine;
    await until(() => isReady(url));
    return { ...one, engineUrl: url, client: new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 }) };
  }

  /** An emulator with an engine of a small and one of a large model, both ready, that answer alike. */
  async cascade(timeScale: number) {
    const one = await this.start(timeScale);
    const { models, ...book } = outcomes([40, 2000]);
    const names = [MODEL, "gemma-2-9b"] as const;
    await one.call("PUT", "/outcomes", { ...book, models: names.map((model) => ({ ...models[0], model })) });
    const started = await Promise.all(names.map((model, gpu) => one.call("POST", "/engines", engineOn(gpu, { model }))));
    const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
    await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
    return { ...one, timeScale, stages: names.map((model, at) => ({ model, url: urls[at] ?? "" })) };
  }

  /** Ends the running processes; the state stays. */
  async stopAll(): Promise<void> {
    for (const { cluster, admin } of this.open.splice(0)) await Promise.all([cluster.shutDown(), shut(admin)]);
  }

  async end(): Promise<void> {
    await this.stopAll();
    rmSync(this.folder, { recursive: true });
  }
}

/** A request for one engine on a GPU of the only node. */
export const engineOn = (gpu: number, change: Partial<EngineRequest> = {}): EngineRequest => ({
  id: `e${gpu}`,
  model: MODEL,
  gpu: "l40s",
  tp: 1,
  pp: 1,
  placements: [{ node: "n1", gpus: [gpu] }],
  ...change,
});

/** Two prompts, `short` and `long`, with so many output tokens. */
export const outcomes = (outputTokens: readonly [number, number] = [40, 400]) => ({
  name: "held-out",
  promptIds: ["short", "long"],
  inputTokens: [100, 200],
  models: [{ model: MODEL, outputTokens, label: [100, 0], judged: [83.4, 20] }],
});

/** Waits until a condition holds. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/health`)).status === 200;

/** A chat request about a prompt. */
export const ask = (prompt: string) => ({ model: MODEL, messages: [{ role: "user" as const, content: `[prompt ${prompt}] What is it?` }] });

export const post = (url: string, body: unknown): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Value of the first series of a metric whose text holds `label`; undefined when it is absent. */
export async function metric(url: string, name: string, label = ""): Promise<number | undefined> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  const line = lines.find((one) => one.startsWith(`${name}{`) && one.includes(label));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

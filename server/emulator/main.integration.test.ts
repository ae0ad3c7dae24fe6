import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedCluster } from "@/server/contracts/engine/emulatorAdmin";
import { freePorts } from "@/server/testing/freePorts";

const BUNDLE = join(import.meta.dirname, "../../dist/emulator.mjs");
const [adminPort = 0, dcgmPort = 0, enginePort = 0] = await freePorts(3);
const PORTS = { WEIR_EMULATOR_PORT: `${adminPort}`, WEIR_DCGM_PORT: `${dcgmPort}`, WEIR_ENGINE_PORT_BASE: `${enginePort}` };
const ADMIN = `http://127.0.0.1:${adminPort}`;
const authorization = "Bearer t";

let folder: string;
const processes: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-emulator-"));
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => end(one, "SIGKILL")));
  rmSync(folder, { recursive: true });
});

function run(environment: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, [BUNDLE], {
    env: { ...process.env, ...PORTS, WEIR_STATE_DIR: folder, WEIR_ADMIN_TOKEN: "t", WEIR_TIME_SCALE: "4", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  processes.push(child);
  return child;
}

/** Ends a process and returns how it ended. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, "exit");
  child.kill(signal);
  return ((await ended) as [number | null])[0];
}

async function started(environment: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
  const child = run(environment);
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

const call = (method: string, path: string, body: unknown): Promise<Response> =>
  fetch(ADMIN + path, { method, headers: { authorization }, body: JSON.stringify(body) });
const cluster = async () => (await (await fetch(`${ADMIN}/cluster`, { headers: { authorization } })).json()) as EmulatedCluster;

const ENGINE = { id: "e", model: "gemma-2-2b", gpu: "l40s", tp: 1, pp: 1, placements: [{ node: "node1", gpus: [0] }] };
const OUTCOMES = {
  name: "w",
  promptIds: ["a"],
  inputTokens: [10],
  models: [{ model: "gemma-2-2b", outputTokens: [8000], label: [100], judged: [80] }],
};

describe("the emulator process", () => {
  it("brings back what was acknowledged before it was killed", async () => {
    const first = await started();
    await call("PUT", "/outcomes", OUTCOMES);
    await call("POST", "/engines", ENGINE);
    const before = await cluster();
    await end(first, "SIGKILL");
    await started();
    const after = await cluster();
    expect(after.outcomes).toEqual({ name: "w", prompts: 1 });
    expect(after.engines.map((engine) => [engine.id, engine.url])).toEqual(before.engines.map((engine) => [engine.id, engine.url]));
  });

  it("ends within seconds on SIGTERM although a stream is open", async () => {
    const child = await started();
    await call("PUT", "/outcomes", OUTCOMES);
    await call("POST", "/engines", ENGINE);
    const [engine] = (await cluster()).engines;
    while ((await fetch(`${engine?.url}/health`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    const body = JSON.stringify({ model: ENGINE.model, stream: true, messages: [{ role: "user", content: "[prompt a] hi" }] });
    const stream = await fetch(`${engine?.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = stream.text().catch(() => "");
    const began = performance.now();
    expect(await end(child, "SIGTERM")).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    await text;
  });

  it("leaves no request without a reply on SIGTERM: not of an engine, not of the judge, not one still arriving", async () => {
    // The judge takes 0.27 s at this scale: long enough to be stopped meanwhile.
    const child = await started({ WEIR_TIME_SCALE: "1" });
    await call("PUT", "/outcomes", OUTCOMES);
    await call("POST", "/engines", ENGINE);
    const { engines, judge } = await cluster();
    const url = engines[0]?.url ?? "";
    while ((await fetch(`${url}/health`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    const ask = (base: string, model: string) =>
      fetch(`${base}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "[prompt a] hi" }] }),
      });
    const asked = [ask(url, ENGINE.model), ask(judge.url, judge.model)];
    const arriving = request(`${url}/v1/chat/completions`, { method: "POST", headers: { "content-length": "100" } });
    arriving.write("{");
    const arrived = once(arriving, "response") as Promise<[IncomingMessage]>;
    while (!/num_requests_running\S* 1\b/.test(await (await fetch(`${url}/metrics`)).text()))
      await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 60));
    await end(child, "SIGTERM");
    const replies = await Promise.all((await Promise.all(asked)).map(async (answer) => [answer.status, (await answer.json()).error.type]));
    const stopped = [503, "ServiceUnavailableError"];
    expect(replies).toEqual([stopped, stopped]);
    const [{ statusCode }] = await arrived;
    expect(statusCode).toBe(503);
    arriving.on("error", () => undefined).destroy();
  }, 20_000);

  it.each(["WEIR_EMULATOR_PORT", "WEIR_DCGM_PORT"])("says in one sentence that the port of %s is taken", async (variable) => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const child = run({ [variable]: String(port) });
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = (await once(child, "close")) as [number];
    holder.close();
    expect(code).toBe(1);
    expect(stderr.trim()).toBe(`Port ${port} is taken: stop the program that listens there, or set ${variable} to another port.`);
  });

  it("says which state file it cannot understand", async () => {
    writeFileSync(join(folder, "emulator.json"), "{");
    const child = run();
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    expect(((await once(child, "close")) as [number])[0]).toBe(1);
    expect(stderr).toContain("emulator.json cannot be read as JSON: remove it");
  });
});

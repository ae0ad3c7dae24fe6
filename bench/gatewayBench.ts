import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import { policyHash } from "@/server/contracts/policyHash";

/** A gateway and a mock upstream, each a process of its own, configured with a two-stage cascade and its judge. */
export interface GatewayBench {
  readonly gatewayUrl: string;
  readonly mockUrl: string;
  close(): void;
}

export const fixedModel = "large";
export const cascadeModel = "cascade/bench";

/** Starts both and puts the configuration into force. */
export async function startGatewayBench(): Promise<GatewayBench> {
  const dist = join(process.env.WEIR_ROOT ?? process.cwd(), "dist");
  const stateDirectory = mkdtempSync(join(tmpdir(), "weir-bench-"));
  const mock = spawn(process.execPath, [join(dist, "mockUpstream.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const gateway = spawn(process.execPath, [join(dist, "gateway.mjs")], {
    env: {
      ...process.env,
      NODE_ENV: "production",
      WEIR_GATEWAY_PORT: "0",
      WEIR_GATEWAY_ADMIN_PORT: "0",
      WEIR_ADMIN_TOKEN: "",
      WEIR_STATE_DIR: stateDirectory,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const close = (): void => {
    mock.kill();
    gateway.kill("SIGKILL");
    rmSync(stateDirectory, { recursive: true, force: true });
  };
  try {
    const [mockUrl] = await said(mock, /^(http:\S+)$/m);
    const [gatewayUrl, adminUrl] = await said(gateway, /"dataUrl":"([^"]+)","adminUrl":"([^"]+)"/);
    const answer = await fetch(`${adminUrl}/config`, {
      method: "PUT",
      headers: { "if-match": '"none"' },
      body: JSON.stringify(benchConfig(mockUrl ?? "")),
    });
    if (!answer.ok) throw new Error(`The gateway refused the benchmark's configuration: ${await answer.text()}`);
    return { gatewayUrl: gatewayUrl ?? "", mockUrl: mockUrl ?? "", close };
  } catch (error) {
    close();
    throw error;
  }
}

/** A chat request of about 200 input tokens. */
export function chatBody(model: string): string {
  return JSON.stringify({ model, messages: [{ role: "user", content: "Where does the water go? ".repeat(32) }] });
}

/** Sends one chat request and reads its answer to the end. Throws when it is no 200. */
export async function askChat(pool: Pool, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await pool.request({ method: "POST", path: "/v1/chat/completions", headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`A chat request of the benchmark was answered ${answer.statusCode}.`);
}

/** Latencies in milliseconds of requests sent at a fixed rate, whether or not earlier ones were answered. */
export async function openLoopLatencies(
  url: string,
  model: string,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
) {
  const pool = new Pool(url, { connections: 256 });
  const body = chatBody(model);
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    const sentMs = performance.now();
    await askChat(pool, body);
    latenciesMs.push(performance.now() - sentMs);
  };
  for (let index = 0; index < perSecond * seconds; ) {
    // Sleeping keeps the generator from taking a core away from what it measures; requests may leave a millisecond late.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; index < perSecond * seconds && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) {
      pending.push(send());
    }
  }
  await Promise.all(pending);
  await pool.close();
  return latenciesMs;
}

/** Resolves with the groups of the first match of `pattern` in what a child prints. */
function said(child: ChildProcess, pattern: RegExp): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match) resolve(match.slice(1));
    });
    child.once("exit", (code) => reject(new Error(`${child.spawnargs.join(" ")} ended with ${code} before it was up.`)));
    child.once("error", reject);
  });
}

function benchConfig(mockUrl: string): GatewayConfig {
  const models = ["small", fixedModel];
  const policy: GatewayConfig["policy"] = {
    kind: "cascade",
    stages: models.map((model) => ({ model })),
    thresholds: [50],
    judge: { model: "weir-judge", secondsPerCall: 0, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place: { kind: "least-load" },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  };
  return {
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name: "bench",
    planId: "bench",
    policyHash: policyHash(policy),
    policy,
    replicas: models.flatMap((model) =>
      [0, 1].map((index) => ({ id: `${model}-${index}`, model, url: mockUrl, state: "active" as const, maxInFlight: 64 })),
    ),
    judge: { model: "weir-judge", url: mockUrl },
    timeScale: 1,
  };
}

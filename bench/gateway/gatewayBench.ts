import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { type Decision, decisionPageSchema, type GatewayConfig, type GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import { modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { adminHeaders, benchToken } from "../lib/adminHeaders";
import { type ChildOptions, endChild, said, startBundle } from "../lib/childProcess";

export const fixedModel = "large";
/** The served name of the policy, whatever its kind. */
export const cascadeModel = "cascade/bench";

const aging = { agingThreshold: 200 } as const;
const fcfs = { kind: "fcfs" } as const;
const leastLoad = { kind: "least-load" } as const;

/** A cascade over models; two answers in five are escalated by the mock judge. */
export function benchCascade(models: readonly string[]): PolicyDocument {
  const thresholds = models.slice(1).map(() => 50);
  return {
    kind: "cascade",
    stages: models.map((model) => ({ model })),
    thresholds,
    judge: { model: "weir-judge", secondsPerCall: 0, usdPerCall: 0 },
    order: fcfs,
    place: leastLoad,
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
  };
}

/** The policies that a gateway may run: each kind, and each different order and place. */
export const benchPolicies: Readonly<Record<string, PolicyDocument>> = {
  fixed: { kind: "fixed", model: fixedModel, order: fcfs, place: leastLoad },
  "fixed, sjf order": { kind: "fixed", model: fixedModel, order: { kind: "sjf", ...aging }, place: leastLoad },
  "fixed, lowest-kv place": { kind: "fixed", model: fixedModel, order: fcfs, place: { kind: "lowest-kv" } },
  slack: {
    kind: "slack",
    models: [
      { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 64, confidence: 0.6 },
      { model: fixedModel, decodeSecondsPerToken: 0.03, maxBatchSize: 64, confidence: 0.8 },
    ],
    tau: 0.5,
    deltaScore: 0.1,
    floorSeconds: 1,
    order: fcfs,
    place: leastLoad,
    approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
  },
  "cascade of 3, judged": benchCascade(["small", "medium", fixedModel]),
};

/** A gateway's resource use since it started. */
interface Usage {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** A gateway as a separate process, with an active policy. */
export interface BenchGateway {
  readonly url: string;
  readonly pid: number;
  usage(): Promise<Usage>;
  /** A series of its metrics by its name, with labels as written; NaN where there is none. */
  metric(series: string): Promise<number>;
  /** Reads a path of its admin port. */
  read(path: string): Promise<Response>;
  /** All records after a sequence. */
  decisionsAfter(sequence: number): Promise<readonly Decision[]>;
  /** Activates another policy over the same engines. */
  put(policy: PolicyDocument): Promise<void>;
  close(): Promise<void>;
}

/** A mock upstream as a separate process. */
export async function startMock({ core }: Pick<ChildOptions, "core"> = {}): Promise<{ readonly url: string; close(): Promise<void> }> {
  const mock = startBundle("mockUpstream", { core });
  const [url = ""] = await said(mock, /^(http:\S+)$/m);
  return { url, close: () => endChild(mock) };
}

interface BenchGatewayOptions extends Pick<ChildOptions, "core" | "environment"> {
  /** Left out: a gateway without a parent. */
  readonly bundle?: "gateway" | "gatewayParent";
}

/** Starts a gateway and activates a policy over four engines at `upstreams`. */
export async function startBenchGateway(
  policy: PolicyDocument,
  upstreams: Upstreams,
  { core, environment: more = {}, bundle = "gateway" }: BenchGatewayOptions = {},
): Promise<BenchGateway> {
  const stateDirectory = mkdtempSync(join(tmpdir(), "weir-bench-"));
  // To profile it: `--cpu-prof`.
  const nodeArgs = process.env.WEIR_GATEWAY_NODE_ARGS?.split(" ") ?? [];
  const environment = {
    WEIR_GATEWAY_PORT: "0",
    WEIR_GATEWAY_ADMIN_PORT: "0",
    WEIR_ADMIN_TOKEN: benchToken,
    WEIR_STATE_DIR: stateDirectory,
    ...more,
  };
  const gateway = startBundle(bundle, { nodeArgs, environment, core });
  const close = async (): Promise<void> => {
    await ended(gateway);
    rmSync(stateDirectory, { recursive: true, force: true });
  };
  try {
    const [url = "", adminUrl = ""] = await said(gateway, /"dataUrl":"([^"]+)","adminUrl":"([^"]+)"/);
    for (const bytes of upstreams.artefacts ?? []) {
      const kept = await fetch(`${adminUrl}/artefacts/${createHash("sha256").update(bytes).digest("hex")}`, {
        method: "PUT",
        headers: adminHeaders,
        body: Buffer.from(bytes),
      });
      if (!kept.ok) throw new Error(`The gateway refused a predictor of the benchmark: ${await kept.text()}`);
    }
    const put = async (next: PolicyDocument): Promise<void> => {
      const current = await readAdmin(adminUrl, "/config");
      await current.arrayBuffer();
      const answer = await fetch(`${adminUrl}/config`, {
        method: "PUT",
        headers: { ...adminHeaders, "if-match": current.headers.get("etag") ?? "" },
        body: JSON.stringify(benchConfig(next, upstreams)),
      });
      if (!answer.ok) throw new Error(`The gateway refused the benchmark's configuration: ${await answer.text()}`);
    };
    await put(policy);
    return {
      ...{ url, put, close, pid: gateway.pid ?? 0 },
      read: (path) => readAdmin(adminUrl, path),
      usage: () => usageOf(adminUrl),
      metric: (series) => metricOf(adminUrl, series),
      decisionsAfter: (sequence) => decisionsAfter(adminUrl, sequence),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The URLs of a model's engines, and the judge's. */
export interface Upstreams {
  readonly engines: (model: string) => readonly string[];
  readonly judge: string;
  /** Left out: weir-judge. */
  readonly judgeModel?: string;
  /** Maximum number of requests of one engine at once; left out: 64. */
  readonly maxInFlight?: number;
  /** Engine seconds per wall second; left out: 1. */
  readonly timeScale?: number;
  /** Left out: none, so that no key is needed. */
  readonly settings?: GatewaySettings;
  /** Trained predictors that the policy names. */
  readonly artefacts?: readonly Uint8Array[];
}

/** Two engines per model and the judge, all the same mock. */
export const mockedBy = (url: string): Upstreams => ({ engines: () => [url, url], judge: url });

interface ChatOptions {
  readonly model: string;
  readonly stream: boolean;
}

/** A chat request of about 200 input tokens. */
export function chatBody({ model, stream }: ChatOptions): string {
  return JSON.stringify({ model, stream, messages: [{ role: "user", content: "Where does the water go? ".repeat(32) }] });
}

/** Sends one chat request and reads its answer to the end. Throws when it is not 200. */
export async function askChat(pool: Pool, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await pool.request({ method: "POST", path: "/v1/chat/completions", headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`A chat request of the benchmark was answered ${answer.statusCode}.`);
}

interface OpenLoad extends ChatOptions {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Connections that are open before the first measured request, like those of clients with continuous traffic. */
export const openedBefore = 32;

/** Latencies in milliseconds of requests sent at a fixed rate, whether or not earlier ones were answered. */
export async function openLoopLatencies(url: string, { perSecond, seconds, ...chat }: OpenLoad): Promise<readonly number[]> {
  const pool = new Pool(url, { connections: 256 });
  const body = chatBody(chat);
  await Promise.all(Array.from({ length: openedBefore }, () => askChat(pool, body)));
  const latenciesMs: number[] = [];
  const pending: Promise<void>[] = [];
  const startedMs = performance.now();
  const send = async (): Promise<void> => {
    const sentMs = performance.now();
    await askChat(pool, body);
    latenciesMs.push(performance.now() - sentMs);
  };
  for (let index = 0; index < perSecond * seconds; ) {
    // Sleeping keeps the generator from taking a core away from the measured process; requests may be sent a millisecond late.
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; index < perSecond * seconds && startedMs + (index * 1000) / perSecond <= performance.now(); index += 1) {
      pending.push(send());
    }
  }
  await Promise.all(pending);
  await pool.close();
  return latenciesMs;
}

/** Lets a gateway exit by itself, which it needs to write a profile. */
async function ended(gateway: ChildProcess): Promise<void> {
  if (gateway.exitCode !== null) return;
  const gone = once(gateway, "exit");
  gateway.kill("SIGTERM");
  await gone;
}

const readAdmin = (adminUrl: string, path: string): Promise<Response> => fetch(`${adminUrl}${path}`, { headers: adminHeaders });

async function decisionsAfter(adminUrl: string, sequence: number): Promise<readonly Decision[]> {
  const { decisions, latest } = decisionPageSchema.parse(await (await readAdmin(adminUrl, `/decisions?after=${sequence}`)).json());
  const last = decisions.at(-1)?.sequence ?? latest;
  return last >= latest ? decisions : [...decisions, ...(await decisionsAfter(adminUrl, last))];
}

async function usageOf(adminUrl: string): Promise<Usage> {
  const [cpuSeconds, rssBytes] = await Promise.all([
    metricOf(adminUrl, "process_cpu_seconds_total"),
    metricOf(adminUrl, "process_resident_memory_bytes"),
  ]);
  return { cpuSeconds, rssBytes };
}

async function metricOf(adminUrl: string, series: string): Promise<number> {
  const lines = (await (await readAdmin(adminUrl, "/metrics")).text()).split("\n");
  const line = lines.find((one) => one.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

function benchConfig(
  policy: PolicyDocument,
  { engines, judge, judgeModel = "weir-judge", settings, maxInFlight = 64, timeScale = 1 }: Upstreams,
): GatewayConfig {
  return {
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name: "bench",
    planId: "bench",
    policyHash: policyHash(policy),
    policy,
    replicas: modelsOf(policy).flatMap((model) =>
      engines(model).map((url, index) => ({ id: `${model}-${index}`, model, url, state: "active" as const, maxInFlight })),
    ),
    judge: { model: judgeModel, url: judge },
    timeScale,
    ...(settings !== undefined && { settings }),
  };
}

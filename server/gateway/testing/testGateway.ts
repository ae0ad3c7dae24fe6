import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { Decision, GatewayConfig, GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway";
import type { GatewayLimits } from "../http/limits";

/** A cascade over `stages` (model and the URLs of its engines) as a configuration. */
export interface TestCascade {
  readonly stages: readonly { readonly model: string; readonly urls: readonly string[] }[];
  readonly thresholds?: readonly number[];
  readonly judgeUrl?: string;
  readonly maxInFlight?: number;
  readonly planId?: string;
  readonly startBelow?: number;
  readonly whenDown?: "accept" | "largest";
  readonly gates?: readonly GateDocument[];
  readonly settings?: GatewaySettings;
}

export function testConfig({
  stages,
  thresholds = [],
  judgeUrl,
  maxInFlight = 8,
  planId = "plan-a",
  startBelow,
  whenDown,
  gates,
  settings,
}: TestCascade): GatewayConfig {
  return {
    apiVersion: "weir/v1",
    kind: "GatewayConfig",
    name: "test",
    planId,
    ...hashed({
      kind: "cascade",
      stages: stages.map(({ model }) => ({ model })),
      thresholds: [...thresholds],
      judge: { model: "weir-judge", secondsPerCall: 0.1, usdPerCall: 0.001, ...(whenDown === undefined ? {} : { whenDown }) },
      ...(gates === undefined ? {} : { gates: [...gates] }),
      order: { kind: "fcfs" },
      place: { kind: "least-load" },
      approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
      ...(startBelow === undefined ? {} : { directStart: { below: startBelow, router: { kind: "modelled", auc: 0.7 } } }),
    }),
    replicas: stages.flatMap(({ model, urls }) =>
      urls.map((url, index) => ({ id: `${model}-${index}`, model, url, state: "active" as const, maxInFlight })),
    ),
    judge: judgeUrl === undefined ? null : { model: "weir-judge", url: judgeUrl },
    timeScale: 1,
    ...(settings === undefined ? {} : { settings }),
  };
}

/** A policy with the hash that binds it, as a configuration or a candidate has them. */
export const hashed = <Policy extends PolicyDocument>(policy: Policy) => ({ policy, policyHash: policyHash(policy) });

/** A configuration that serves one model, `large`. */
export const oneModel = (urls: readonly string[], maxInFlight = 8): GatewayConfig =>
  testConfig({ stages: [{ model: "large", urls }], maxInFlight });

/** Waits until a condition holds; the test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

export interface TestGateway extends Gateway {
  readonly stateDirectory: string;
  put(config: GatewayConfig): Promise<void>;
  chat(body: Record<string, unknown>, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  decisions(): Promise<readonly Decision[]>;
}

/** A gateway's admin port, with the token where it wants one. */
export interface AdminPort {
  readonly adminUrl: string;
  readonly adminHeaders?: Readonly<Record<string, string>>;
}

/** An empty directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "weir-gateway-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/** A real gateway on free ports, closed when the test ends. */
export async function startTestGateway(limits: Partial<GatewayLimits> = {}, given: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const stateDirectory = given.stateDirectory ?? (await temporaryDirectory());
  const log = pino({ level: "silent" });
  const options = {
    dataPort: 0,
    adminPort: 0,
    stateDirectory,
    adminToken: null,
    studio: null,
    log,
    limits: { drainSeconds: 0.2, ...limits },
  };
  const gateway = await startGateway({ ...options, ...given });
  onTestFinished(() => gateway.close().then(() => undefined));
  const { adminUrl, dataUrl } = gateway;
  return {
    ...gateway,
    stateDirectory,
    async put(config) {
      const etag = (await fetch(`${adminUrl}/config`)).headers.get("etag") ?? "";
      const answer = await fetch(`${adminUrl}/config`, {
        method: "PUT",
        headers: { "content-type": "application/json", "if-match": etag },
        body: JSON.stringify(config),
      });
      if (answer.status !== 200) throw new Error(`PUT /config: ${answer.status} ${await answer.text()}`);
    },
    chat: (body, init) =>
      fetch(`${dataUrl}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "cascade/test", messages: [{ role: "user", content: "What is 2 + 2?" }], ...body }),
        ...init,
        headers: { "content-type": "application/json", ...init?.headers },
      }),
    post: (path, body, headers = {}) =>
      fetch(`${dataUrl}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    async decisions() {
      const page = (await (await fetch(`${adminUrl}/decisions`)).json()) as { decisions: Decision[] };
      return page.decisions;
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs, variable } from "@/scripts/needs.mjs";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { createConnector } from "@/server/clusters/connector/clusterConnector";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { startGateway } from "@/server/gateway/gateway";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { attachedEngines } from "./attachedEngines";
import { connectionSchema } from "./connection";
import { createEndpointHost } from "./endpointHost";
import { probeEndpoint } from "./probeEndpoint";

const { WEIR_LLAMA_SERVER: program = "", WEIR_LLAMA_MODEL: model = "" } = process.env;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

describe("llama.cpp's own server", { ...needs(variable("WEIR_LLAMA_SERVER"), variable("WEIR_LLAMA_MODEL")), timeout: 240_000 }, () => {
  const { signal } = new AbortController();
  let server: ChildProcess;
  let url = "";
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const flags = [
      "--model",
      model,
      "--alias",
      "small",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--metrics",
      "-np",
      "2",
      "-c",
      "2048",
    ];
    server = spawn(program, flags, { stdio: "ignore" });
    await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), { timeout: 180_000, interval: 200 });
  }, 200_000);
  afterAll(() => {
    server.kill("SIGKILL");
  });

  it("is recognised with its slots, attached, served through the gateway, and counted in its own metrics", async () => {
    const found = await probeEndpoint({ name: "a", url }, { signal, generate: true, limitMs: 20_000 });
    expect(found).toMatchObject({ engine: { type: "llama.cpp" }, limits: { maxSequences: 2 } });
    expect(found.ttftSeconds).toBeGreaterThan(0);

    const state = mkdtempSync(join(tmpdir(), "weir-gateway-"));
    const gateway = await startGateway({
      ...{ dataPort: 0, adminPort: 0, stateDirectory: state, adminToken: null, studio: null, log: pino({ level: "silent" }) },
      limits: { drainSeconds: 0.2 },
    });
    const endpoint = { name: "a", url, model: "small", gpu: "l40s", precision: "bf16", limits: { maxSequences: 2 } } as const;
    const connection = connectionSchema.parse({ kind: "endpoints", endpoints: [endpoint] });
    const draft = examplePlanDraft();
    const replicas = [{ tp: 1, pp: 1, count: 1, shareEach: 1, placements: [[{ node: "a", gpus: [0] }]] }];
    const policy = { ...draft.policy, stages: [{ model: "small" }], thresholds: [], approvedRanges: { thresholds: [] } };
    const deployment = [{ model: "small", precision: "bf16" as const, gpu: "l40s", gpus: 1, replicas }];
    const plan = sealPlan({ ...draft, metadata: { name: "one" }, deployment, policy }, new Date("2026-01-01T00:00:00Z"));
    const connector = createConnector({
      host: createEndpointHost(connection),
      gateway: createAdminClient("gateway", gateway.adminUrl, ""),
      planOf: (id) => (id === plan.id ? plan : null),
    });
    const apply = (action: Parameters<typeof connector.applyStep>[0]) => connector.applyStep(action, { signal, report: () => undefined });
    const [engine] = attachedEngines(connection);
    expect(await apply({ kind: "verify", engineId: engine!.id, model: "small" })).toMatchObject({ ok: true });
    const routing = { planId: plan.id, active: [engine!.id], cordoned: [] };
    expect(await apply({ kind: "switch-policy", routing })).toMatchObject({ ok: true });

    const ask = async (stream: boolean): Promise<number> => {
      const body = { model: "cascade/default", messages: [{ role: "user", content: "12+30=" }], max_tokens: 8, stream };
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.text();
      return answer.status;
    };
    const statuses = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(index % 2 === 0)));
    expect(statuses).toEqual(Array(12).fill(200));
    const metrics = parsePromText(await (await fetch(`${url}/metrics`)).text());
    const read = readCanonicalMetrics(metrics, chooseMapping(metrics, null)!);
    expect(read.generationTokens).toMatchObject({ state: "value", value: expect.any(Number) });
    expect(read.generationTokens.state === "value" ? read.generationTokens.value : 0).toBeGreaterThanOrEqual(12);
    expect(read.running).toMatchObject({ value: 0 });
    expect(read.kvUse.state).toBe("not-applicable");
    await gateway.close();
    rmSync(state, { recursive: true });
  });
});

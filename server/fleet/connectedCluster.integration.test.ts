import { createServer } from "node:http";
import { expect, it, onTestFinished, vi } from "vitest";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { connectionSchema } from "@/server/endpoints/connection";
import { createEndpointHost } from "@/server/endpoints/endpointHost";
import { listen } from "@/server/endpoints/testing/testEndpoints";
import { createCollector } from "@/server/telemetry/collector";
import { watchedTarget } from "./connectedCluster";

const metrics = ["vllm:num_requests_running 3", "vllm:num_requests_waiting 1", "vllm:kv_cache_usage_perc 0.5"].join("\n");

it("lets telemetry in at an endpoint whose metrics want its key", async () => {
  vi.stubEnv("WEIR_ENGINE_WATCHED", "sk-watched");
  const server = createServer(({ url, headers }, response) => {
    if (headers.authorization !== "Bearer sk-watched") response.writeHead(401).end();
    else if (url === "/metrics") response.end(metrics);
    else response.writeHead(404).end();
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(enterTestKeys([{ key: { environment: "WEIR_ENGINE_WATCHED" }, url }]));
  const common = { url, model: "qwen2.5-7b", gpu: "l40s", precision: "bf16", tp: 2 };
  const connection = connectionSchema.parse({
    kind: "endpoints",
    endpoints: [
      { ...common, name: "with", key: { environment: "WEIR_ENGINE_WATCHED" } },
      { ...common, name: "without", servedName: "same" },
    ],
  });
  const seen = await createEndpointHost(connection).observe({});
  const targets = seen.ok ? seen.value.engines.map(watchedTarget) : [];
  expect(targets[0]?.gpus).toEqual([
    { node: "with", index: 0 },
    { node: "with", index: 1 },
  ]);
  const gateway = { gatewayAdminUrl: "http://127.0.0.1:9", adminToken: "" };
  const collector = createCollector({ clusterId: "c", targets: () => targets, dcgmUrls: [], ...gateway, timeScale: 1, intervalMs: 250 });
  const frame = (name: string) =>
    collector
      .frames()
      .at(-1)
      ?.engines.find(({ id }) => id.includes(`-${name}-`));
  await vi.waitFor(() => expect(frame("with")?.state).toBe("fresh"), 10_000);
  await vi.waitFor(() => expect(frame("without")?.reason).toContain("401"), 10_000);
  expect(frame("with")).toMatchObject({ running: 3, waiting: 1, kvUse: 0.5 });
  expect(frame("without")?.running).toBeNull();
  collector.close();
  server.close();
  server.closeAllConnections();
  vi.unstubAllEnvs();
});

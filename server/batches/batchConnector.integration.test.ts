import { afterEach, expect, it, vi } from "vitest";
import { createConnectionPool } from "@/server/calls/upstream";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import { createBatchConnector } from "./batchConnector";
import type { ShapedSession } from "./batchShape";
import { ensembleOf, orderOf } from "./testing/testBatchStudio";
import { testEngineServer } from "./testing/testEngineServer";

afterEach(() => vi.useRealTimers());

it("measures a load from the engine's start, without the end of the one before, and not at all where the engine stood", async () => {
  const server = await testEngineServer((question) => question.answer());
  const connections = createConnectionPool(1000);
  const model = "qwen2.5-7b";
  const placement = { node: "node1", gpus: [0] };
  const session: ShapedSession = {
    ...{ stage: "experts", worker: 0, turn: 0, model, placement, engineId: "batch-1-experts-w0-0", positions: [0], predicted: null },
  };
  vi.useFakeTimers({ toFake: ["performance"] });
  let isStopping = true;
  const host: EngineHost = {
    ...server.host,
    async observe(options) {
      const found = await server.host.observe(options);
      if (!found.ok) return found;
      return { ok: true, value: { ...found.value, engines: found.value.engines.map((engine) => ({ ...engine, stopping: isStopping })) } };
    },
    async stop(...asked) {
      vi.advanceTimersByTime(600_000);
      isStopping = false;
      return server.host.stop(...asked);
    },
    async start(...asked) {
      if (!isStopping) vi.advanceTimersByTime(7_000);
      return server.host.start(...asked);
    },
  };
  const connector = createBatchConnector({
    batch: {
      id: "1",
      clusterId: "embedded",
      order: orderOf({ ensemble: ensembleOf([model, "b"], "b"), workers: [[model]], questions: 1 }),
    },
    clusterOf: () => ({ host, seen: () => ({ atMs: null, answer: { ok: false, message: "" } }) }),
    clusterName: (id) => id,
    precisionOf: () => "bf16",
    connections,
  });
  const { signal } = new AbortController();
  const load = async () => {
    const loaded = await connector.load(session, signal);
    return loaded.ok ? loaded.value.loadSeconds : loaded.message;
  };
  await host.start(
    { id: session.engineId, model, precision: "bf16", gpu: "l40s", tp: 1, pp: 1, placements: [placement] },
    { signal, report: () => undefined },
  );
  expect(await load()).toBe(7);
  expect(await load()).toBeNull();
  await connections.close();
  await server.stop();
});

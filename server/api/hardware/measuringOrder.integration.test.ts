import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { MeasuringOrder } from "@/server/contracts/studio";
import { measureEngine } from "@/server/measuring/measureEngine";
import { openStore, type Store } from "@/server/store/store";
import { measuringSchema } from "../base/inputs";
import { createMeasuringService } from "./measuringService";

vi.mock("@/server/measuring/measureEngine", async (original) => ({
  ...(await original<typeof import("@/server/measuring/measureEngine")>()),
  measureEngine: vi.fn(async () => ({ kind: "refused", reason: "stopped", message: "Nothing was measured.", runs: [] })),
}));

let folder = "";
let store: Store;
let server: Server;
let url = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-order-"));
  store = openStore(folder);
  server = createServer((request, response) => {
    if (request.url === "/v1/models") response.end('{"data":[{"id":"its-own-name"}]}');
    else if (request.url === "/metrics") response.end("vllm:num_requests_running 0\nvllm:kv_cache_usage_perc 0\n");
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  store.close();
  rmSync(folder, { recursive: true });
});

type Fleet = Parameters<typeof createMeasuringService>[0]["fleet"];

/** A studio to which the engine is attached as qwen2.5-7b at tp 4. */
function service() {
  const engine = { id: "e", url, model: "qwen2.5-7b", tp: 4, pp: 1, access: { servedName: "its-own-name" } };
  const value = { engines: [engine], routing: { planId: null, active: [], cordoned: [] } };
  const fleet = { list: () => [{ seen: () => ({ atMs: 1, answer: { ok: true, value } }) }] } as unknown as Fleet;
  return createMeasuringService({ store, cards: createCardStore(folder), fleet, keep: () => ({ ok: true, id: "p" }) });
}

const order = (change: Partial<MeasuringOrder> = {}): MeasuringOrder => ({
  ...measuringSchema.parse({ url, model: null, gpu: "h100-sxm", minutes: 1, tokens: 10_000, servingOthers: false }),
  ...change,
});

test("an order without a shape and without most requests in flight is for tp 1, pp 1 and what is usual", () => {
  expect(order()).toMatchObject({ tp: 1, pp: 1, concurrency: null });
  for (const wrong of [{ tp: 9 }, { tp: 0 }, { pp: 1.5 }, { concurrency: 4097 }])
    expect(measuringSchema.safeParse({ ...order(), ...wrong }).success).toBe(false);
});

test("the load is announced with the shape ordered, the one attached, the tokens and the most requests in flight", async () => {
  expect(await service().announce(order({ tp: 2, concurrency: 12 }), "ann")).toMatchObject({
    ok: true,
    announced: {
      ...{ served: "its-own-name", model: "qwen2.5-7b", gpu: "h100-sxm" },
      ...{ shape: { tp: 2, pp: 1 }, attachedShape: { tp: 4, pp: 1 }, tokens: 10_000, mostConcurrency: 12 },
    },
  });
});

test("the engine is measured under its attached card, in the shape and within the load that were ordered", async () => {
  const measuring = service();
  expect(await measuring.start(order({ tp: 4, pp: 2, concurrency: 12 }), "ann")).toEqual({ ok: true });
  await vi.waitFor(() => expect(measuring.state()?.state).toMatchObject({ kind: "refused" }));
  expect(vi.mocked(measureEngine).mock.lastCall?.[0]).toMatchObject({
    ...{ model: "qwen2.5-7b", gpu: "h100-sxm", shape: { tp: 4, pp: 2 }, budget: { seconds: 60, tokens: 10_000 }, mostConcurrency: 12 },
    inspected: { served: "its-own-name" },
  });
});

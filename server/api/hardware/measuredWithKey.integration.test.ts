import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { openStore, type Store } from "@/server/store/store";
import { createMeasuringService } from "./measuringService";

const KEY = "key-of-this-engine";

let folder = "";
let store: Store;
let server: Server;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-measuring-"));
  store = openStore(folder);
  vi.stubEnv("WEIR_SECRET_ORIGINS", join(folder, "origins.json"));
  vi.stubEnv("WEIR_ENGINE_MEASURED", KEY);
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** An engine that answers who has its key. */
async function listening(): Promise<string> {
  server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${KEY}`) response.writeHead(401).end();
    else if (request.url === "/v1/models") response.end('{"data":[{"id":"qwen2.5-7b"}]}');
    else if (request.url === "/metrics") response.end("vllm:num_requests_running 0\nvllm:kv_cache_usage_perc 0\n");
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("an engine with an API key is announced with a reference to its key, which is entered for its address", async () => {
  const keep = () => ({ ok: true, id: "p" }) as const;
  const service = createMeasuringService({ store, cards: createCardStore(folder), fleet: { list: () => [] }, keep });
  const url = await listening();
  const load = { minutes: 1, tokens: 10_000, concurrency: null, servingOthers: false };
  const order = { ...{ url, model: null, gpu: null, tp: 1, pp: 1 }, ...load };
  expect(await service.announce(order, "ann")).toMatchObject({ ok: false, message: expect.stringMatching(/status 401/) });
  expect(await service.announce({ ...order, key: { environment: "WEIR_ENGINE_MEASURED" } }, "ann")).toMatchObject({
    ok: true,
    announced: { engine: "vllm", served: "qwen2.5-7b", showsOthers: true },
  });
  expect(readFileSync(join(folder, "origins.json"), "utf8")).toContain(url);
  expect(store.audit.list(10).some(({ action }) => action === "enter key")).toBe(true);
});

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Clock, systemClock } from "./clock";
import { createEngineTarget } from "./engineTarget";
import { MAX_SCRAPE_BYTES } from "./scrape";
import { createTestClock } from "./testing/testClock";

/** An engine, and a target for it that the test polls. */
async function watched(handler: RequestListener, clock: Clock = systemClock) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Two of them are more than a busy machine takes for these requests.
  const options = { intervalMs: 10_000, timeScale: 1, clock, onScrape: () => undefined };
  return { url, asked, engine: createEngineTarget({ id: "a", model: "m", url, gpus: [] }, options) };
}

it("finds the metrics of an engine whose /metrics are something else, and goes on asking there", async () => {
  const { asked, engine } = await watched((request, response) => {
    if (request.url === "/metrics") response.end('[{"gpuMemUsage": 1, "iter": 3}]');
    else if (request.url === "/prometheus/metrics") response.end("trtllm_num_requests_running 2\ntrtllm_kv_cache_utilization 0.25\n");
    else if (request.url === "/version") response.end('{"version": "1.2.0"}');
    else response.writeHead(404).end();
  });
  await engine.poll();
  expect(engine.frame()).toMatchObject({ state: "fresh", running: 2, kvUse: 0.25, engine: { type: "trtllm-serve", version: "1.2.0" } });
  await engine.poll();
  expect(asked).toEqual(["/metrics", "/prometheus/metrics", "/version", "/prometheus/metrics"]);
});

it("says which of the paths failed first where neither has metrics", async () => {
  const { url, engine } = await watched((request, response) => {
    response.statusCode = request.url === "/metrics" ? 500 : 404;
    response.end();
  });
  await engine.poll();
  expect(engine.frame()).toMatchObject({ failing: { kind: "status" }, reason: `${url}/metrics answered 500` });
});

it("stops reading metrics without end, and says so", async () => {
  const lines = Buffer.from("vllm:num_requests_running 1\n".repeat(40_000));
  const { url, engine } = await watched((_, response) => {
    const push = (): void => {
      while (!response.destroyed && response.write(lines));
      response.once("drain", push);
    };
    push();
  });
  await engine.poll();
  expect(engine.frame()).toMatchObject({
    failing: { kind: "too-large" },
    reason: `${url}/metrics sent more than ${MAX_SCRAPE_BYTES} bytes`,
  });
});

it("keeps to the version that it knows while the engine does not answer that question", async () => {
  let mute = false;
  const { engine } = await watched((request, response) => {
    if (request.url === "/version" && mute) request.socket.destroy();
    else response.end(request.url === "/version" ? '{"version": "0.30.0+emulated"}' : "vllm:num_requests_running 1\n");
  });
  await engine.poll();
  mute = true;
  for (let scrape = 0; scrape < 40; scrape += 1) await engine.poll();
  expect(engine.frame()).toMatchObject({ engine: { type: "weir-emulator", version: "0.30.0+emulated" }, events: [] });
});

it.each([-3_600_000, 3_600_000])("reads rates and grows old as before when the wall's clock is set by %d ms", async (byMs) => {
  const clock = createTestClock(10_000_000);
  let tokens = 0;
  const { engine } = await watched((request, response) => {
    tokens += request.url === "/metrics" ? 100 : 0;
    response.end(request.url === "/metrics" ? `vllm:generation_tokens_total ${tokens}\n` : '{"version": "0.30.0"}');
  }, clock);
  await engine.poll();
  clock.pass(1_000);
  await engine.poll();
  clock.set(clock.wallMs() + byMs);
  clock.pass(1_000);
  await engine.poll();
  expect(engine.frame()).toMatchObject({ state: "fresh", ageSeconds: 0, readings: { generationTokensPerSecond: { value: 100 } } });
  clock.pass(200_000);
  expect(engine.frame()).toMatchObject({ state: "unreachable", ageSeconds: 200, sinceMs: clock.wallMs() });
});

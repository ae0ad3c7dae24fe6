import { createServer, request as forward } from "node:http";
import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { listen, startTestEndpoint, type TestEndpointOptions } from "@/server/endpoints/testing/testEndpoints";
import type { ObservedEngine } from "./connector";
import { verifyEngine } from "./verifyEngine";

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));
process.env.WEIR_ENGINE_VERIFIED = "sk-right";
afterAll(() => {
  delete process.env.WEIR_ENGINE_VERIFIED;
});

const { signal } = new AbortController();
const engineAt = (url: string, access?: ObservedEngine["access"]): ObservedEngine => ({
  ...{ id: "e", model: "small", gpu: "l40s", tp: 1, pp: 1, placements: [], stopping: false },
  url,
  ...(access && { access }),
});
async function start(is: TestEndpointOptions = {}) {
  const engine = await startTestEndpoint(is);
  closing.push(engine.close);
  return engine;
}
const holds = { holds: expect.stringMatching(/^healthy, model listed, one token in \d+ ms$/) };

describe("whether an engine can be given requests", () => {
  it("is asked under the path of its address", async () => {
    const engine = await start();
    const proxy = createServer((asked, response) => {
      if (!asked.url?.startsWith("/team/small/")) return response.writeHead(404).end();
      const { method, headers } = asked;
      const to = forward(`${engine.url}${asked.url.slice("/team/small".length)}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      asked.pipe(to);
    });
    closing.push(() => proxy.close());
    const url = `http://127.0.0.1:${await listen(proxy)}`;
    expect(await verifyEngine(engineAt(`${url}/team/small`), "small", signal)).toEqual(holds);
    expect(await verifyEngine(engineAt(url), "small", signal)).toEqual({
      waiting: "There is no OpenAI API under this address: /v1/models is not found.",
    });
  });

  it("is asked with its key, and under the engine's own name for the model", async () => {
    const engine = await start({ key: "sk-right", models: ["org/small"] });
    const key = { environment: "WEIR_ENGINE_VERIFIED" };
    onTestFinished(enterTestKeys([{ key, url: engine.url }]));
    expect(await verifyEngine(engineAt(engine.url, { key, servedName: "org/small" }), "small", signal)).toEqual(holds);
    expect(engine.asked).toEqual([{ model: "org/small", authorization: "Bearer sk-right" }]);
    expect(await verifyEngine(engineAt(engine.url, { key }), "small", signal)).toEqual({
      waiting: "It does not serve small but org/small.",
    });
    expect(await verifyEngine(engineAt(engine.url), "small", signal)).toEqual({ waiting: "It wants an API key." });
    expect(await verifyEngine(engineAt(engine.url, { key: { environment: "WEIR_ENGINE_NOT_SET" } }), "small", signal)).toEqual({
      waiting: "The key's variable WEIR_ENGINE_NOT_SET is not set.",
    });
  });

  it("is so without /health where it lists the model and generates", async () => {
    const engine = await start({ withoutHealth: true });
    expect(await verifyEngine(engineAt(engine.url), "small", signal)).toEqual(holds);
  });

  it("is not so while it loads, and then no token is asked of it", async () => {
    const engine = await start({ healthy: false });
    expect(await verifyEngine(engineAt(engine.url), "small", signal)).toEqual({
      waiting: "It is still loading, or not well (/health answers 503).",
    });
    expect(engine.asked).toEqual([]);
  });

  it.each(["{ not json", '{"data":5}', "", "[]", '"text"'])("is waited for where its list of models reads %j", async (text) => {
    const engine = await start({ pages: { "/v1/models": text } });
    expect(await verifyEngine(engineAt(engine.url), "small", signal)).toEqual({ waiting: "It lists no models." });
  });

  it("is waited for where what it generates is no completion", async () => {
    const site = createServer((asked, response) => {
      if (asked.method === "POST") return response.end("{ half a comple");
      if (asked.url === "/v1/models") return response.end('{"data":[{"id":"small"}]}');
      return response.writeHead(asked.url === "/health" ? 200 : 404).end();
    });
    closing.push(() => site.close());
    expect(await verifyEngine(engineAt(`http://127.0.0.1:${await listen(site)}`), "small", signal)).toEqual({
      waiting: "small generates no token: its answer is no completion.",
    });
  });

  it("is waited for where nothing listens, and rejects only when given up", async () => {
    expect(await verifyEngine(engineAt("http://127.0.0.1:9"), "small", signal)).toEqual({ waiting: "Nothing listens at 127.0.0.1:9." });
    await expect(verifyEngine(engineAt("http://127.0.0.1:9"), "small", AbortSignal.abort())).rejects.toThrow();
  });
});

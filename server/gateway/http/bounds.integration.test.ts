import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

describe("bounds", () => {
  it("sheds with 429 and Retry-After when the queue is full, and serves what it admitted", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ queuedPerModel: 2 });
    await gateway.put(oneModel([engine.url], 1));
    const answers = [1, 2, 3, 4, 5].map(() => gateway.chat({}));
    const firstRefused = await Promise.race(answers);
    expect(firstRefused.status).toBe(429);
    expect(Number(firstRefused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await firstRefused.json()).toMatchObject({ error: { type: "rate_limit_error", code: "queue_full" } });
    engine.open();
    const statuses = (await Promise.all(answers)).map((answer) => answer.status).sort();
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const reasons = (await gateway.decisions()).map(({ status, reason, stages }) => [status, reason, stages.length]);
    const shed = [429, "2 requests wait for large, the gateway's limit.", 0];
    expect(reasons).toEqual([shed, shed, [200, "", 1], [200, "", 1], [200, "", 1]]);
  });

  it("answers 504 when a request has had its time, and stops the engine", async () => {
    const engine = await startTestEngine(() => undefined);
    const gateway = await startTestGateway({ requestSeconds: 0.05 });
    await gateway.put(oneModel([engine.url]));
    const answer = await gateway.chat({});
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([504, "deadline"]);
    await engine.asked[0]?.cutOff;
  });

  it.each([
    ["said", { "content-type": "application/json", "content-length": "5000" }],
    ["found", { "content-type": "application/json", "transfer-encoding": "chunked" }],
  ])("refuses a body over the limit whose length is %s", async (_, headers) => {
    const gateway = await startTestGateway({ bodyBytes: 1000 });
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, { method: "POST", headers });
    request.on("error", () => undefined);
    request.write("x".repeat(4000));
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  it("refuses a body for which those of others leave no room, and takes the next when they are answered", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ bodyBytesInAll: 10_000 });
    await gateway.put(oneModel([engine.url]));
    const big = { user: "x".repeat(8000) };
    const held = gateway.chat(big);
    await until(() => engine.asked.length === 1);
    const refused = await gateway.chat(big);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("no_room");
    const small = gateway.chat({});
    await until(() => engine.asked.length === 2);
    engine.open();
    expect([(await held).status, (await small).status]).toEqual([200, 200]);
    await until(async () => (await gateway.chat(big)).status === 200);
  });

  it("has room again for as much as a client sent that was too slow", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const gateway = await startTestGateway({ bodyBytesInAll: 10_000, arrivalSeconds: 0.2 });
    await gateway.put(oneModel([engine.url]));
    const request = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": "100000" },
    });
    request.on("error", () => undefined);
    request.write("x".repeat(9000));
    const trickle = setInterval(() => request.write("x".repeat(100)), 20);
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(408);
    response.resume();
    await once(request, "close");
    clearInterval(trickle);
    expect((await gateway.chat({ user: "x".repeat(9000) })).status).toBe(200);
  });

  it.each([
    ["not JSON", "{", 400, "invalid_json"],
    ["a list", "[]", 400, "invalid_json"],
    ["without messages", '{"model":"cascade/test"}', 400, "invalid_type"],
    ["for a model nobody serves", '{"model":"gpt-x","messages":[{}]}', 404, "model_not_found"],
  ])("refuses a body that is %s", async (_, body, status, code) => {
    const engine = await startTestEngine(() => undefined);
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const answer = await gateway.chat({}, { body });
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    expect([answer.status, error.code]).toEqual([status, code]);
    expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
  });

  it("refuses several answers of a cascade, which judges one, and passes them on for an engine's model", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "x"));
    const gateway = await startTestGateway();
    await gateway.put(oneModel([engine.url]));
    const refused = await gateway.chat({ n: 2 });
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    expect([refused.status, error.param]).toEqual([400, "n"]);
    expect(error.message).toBe("`n` is 2, but a cascade judges one answer: leave `n` out, or name an engine's model.");
    expect((await gateway.chat({ n: 1 })).status).toBe(200);
    expect((await gateway.chat({ n: 2, model: "large" })).status).toBe(200);
    expect(engine.asked.map(({ body }) => body.n)).toEqual([1, 2]);
  });

  it("counts whom it turns away, under a label that clients cannot choose", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ queuedPerModel: 1, bodyBytes: 1000 });
    const counts = async () => {
      const { refused, shed } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      return { refused, shed, lines: text.split("\n").filter((line) => line.startsWith("weir_gateway_requests_total{")) };
    };
    expect((await gateway.chat({})).status).toBe(503);
    await gateway.put(oneModel([engine.url], 1));
    const taken = [gateway.chat({})];
    await until(() => engine.asked.length === 1);
    taken.push(gateway.chat({}));
    await until(async () => (await (await fetch(`${gateway.adminUrl}/status`)).text()).includes('"large":1'));
    const refused = [
      gateway.chat({}),
      gateway.chat({ model: "x" }),
      gateway.chat({ messages: 1 }),
      gateway.chat({ user: "x".repeat(2000) }),
    ];
    expect((await Promise.all(refused)).map((answer) => answer.status)).toEqual([429, 404, 400, 413]);
    const before = await counts();
    expect([before.refused, before.shed]).toEqual([5, 1]);
    for (const status of [503, 404, 400, 413])
      expect(before.lines).toContain(`weir_gateway_requests_total{served="unknown",status="${status}"} 1`);
    expect(before.lines).toContain('weir_gateway_requests_total{served="cascade/test",status="429"} 1');
    engine.open();
    await Promise.all(taken);
    expect((await counts()).refused).toBe(5);
  });

  it("gives a copy of the mirror a time of its own, which is shorter than a request's", async () => {
    const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
    const judge = await startTestEngine((_, response) => sayCompletion(response, "90"));
    const hung = await startTestEngine(() => undefined);
    const gateway = await startTestGateway({ copySeconds: 0.1 });
    const stages = [
      { model: "small", urls: [small.url] },
      { model: "large", urls: [hung.url] },
    ];
    await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url }));
    const mirror = `${gateway.adminUrl}/mirror`;
    await fetch(mirror, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ share: 1, maxInFlight: 8, by: "ann", reason: "scores" }),
    });
    expect((await gateway.chat({})).status).toBe(200);
    await hung.asked[0]?.cutOff;
    await until(async () => ((await (await fetch(mirror)).json()) as { failed: number }).failed === 1);
  });
});

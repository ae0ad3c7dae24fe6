import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { panicSchema } from "@/server/contracts/gateway/gatewayControls";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";
import { lift, panic, said, signed, statusOf, threeModels } from "../testing/testPanic";

it("sends every request for text to the model of the panic, whatever it names, until it is cleared", async () => {
  const { small, middle, large, config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  expect(await said(gateway.chat({}))).toEqual([200, "large", config.policyHash]);
  const put = await panic(gateway, { model: "middle", ...signed });
  expect(panicSchema.parse(await put.json())).toMatchObject({ model: "middle", ...signed });
  const asked = [small.asked.length, large.asked.length];
  for (const model of ["cascade/test", "cascade/default", "small", "large", "gpt-nobody-serves"]) {
    expect(await said(gateway.chat({ model }))).toEqual([200, "middle", "panic"]);
    expect(await said(gateway.post("/v1/completions", { model, prompt: "x" }))).toEqual([200, "middle", "panic"]);
  }
  expect([small.asked.length, large.asked.length]).toEqual(asked);
  expect(middle.asked.every(({ body }) => body.model === "middle")).toBe(true);
  expect((await gateway.decisions()).at(-1)).toMatchObject({ asked: "gpt-nobody-serves", policyHash: "panic", planId: "" });
  expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).toContain(
    'weir_gateway_requests_total{served="panic",status="200"} 10',
  );
  expect((await lift(gateway)).status).toBe(200);
  expect(await (await fetch(`${gateway.adminUrl}/panic`)).json()).toBe(null);
  expect(await said(gateway.chat({}))).toEqual([200, "large", config.policyHash]);
  expect((await gateway.chat({ model: "gpt-nobody-serves" })).status).toBe(404);
  expect((await lift(gateway)).status).toBe(404);
});

it("leaves embeddings their way, those that wait too", async () => {
  const held: ServerResponse[] = [];
  const embedding = JSON.stringify({ object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }] });
  let answer = (response: ServerResponse): unknown => held.push(response);
  const embedder = await startTestEngine((_, response) => answer(response));
  const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
  const gateway = await startTestGateway();
  const stages = [
    { model: "embedder", urls: [embedder.url] },
    { model: "large", urls: [large.url] },
  ];
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
  await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url, maxInFlight: 1 }));
  const asked = Array.from({ length: 3 }, () => gateway.post("/v1/embeddings", { model: "embedder", input: "x" }));
  await until(() => embedder.asked.length === 1);
  await panic(gateway, { model: "large", ...signed });
  answer = (response) => response.writeHead(200, { "content-type": "application/json" }).end(embedding);
  held.forEach(answer);
  for (const sent of asked) expect(await said(sent)).toEqual([200, "embedder", "direct"]);
  expect((await gateway.post("/v1/embeddings", { model: "cascade/test", input: "x" })).status).toBe(400);
});

it("takes requests that wait with it, lets what is at an engine finish there, and sends on none that it would have escalated", async () => {
  const small = await heldEngine();
  const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
  const rescue = await startTestEngine((_, response) => sayCompletion(response, "rescue"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "0"));
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
    { model: "rescue", urls: [rescue.url] },
  ];
  const gateway = await startTestGateway();
  await gateway.put(testConfig({ stages, thresholds: [50, 50], judgeUrl: judge.url, maxInFlight: 2 }));
  const answers = Array.from({ length: 10 }, (_, index) => gateway.chat({ stream: index % 2 === 0 }));
  const direct = gateway.chat({ model: "small" });
  await until(() => small.asked.length === 2);
  await until(async () => (await statusOf(gateway)).queued.small === 9);
  await panic(gateway, { model: "rescue", ...signed });
  await until(() => rescue.asked.length === 9);
  small.open();
  for (const answer of [...answers, direct]) expect(await said(answer)).toEqual([200, "rescue", "panic"]);
  expect([small.asked.length, large.asked.length, rescue.asked.length]).toEqual([2, 0, 11]);
  const records = await gateway.decisions();
  expect(
    records.filter(({ stages: visited }) => visited.length === 2).map(({ stages: visited }) => visited.map(({ model }) => model)),
  ).toEqual([
    ["small", "rescue"],
    ["small", "rescue"],
  ]);
});

it("does not cut a stream that has begun", async () => {
  let finish = (): void => undefined;
  const large = await startTestEngine((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(streamEvent({ content: "first" }));
    finish = () => response.end(`${streamEvent({ content: " last" }, "stop")}data: [DONE]\n\n`);
  });
  const rescue = await startTestEngine((_, response) => sayCompletion(response, "rescue"));
  const gateway = await startTestGateway();
  const config = testConfig({ stages: [{ model: "large", urls: [large.url] }] });
  const replica = { id: "rescue-0", model: "rescue", url: rescue.url, state: "active" as const, maxInFlight: 8 };
  await gateway.put({ ...config, replicas: [...config.replicas, replica] });
  const answer = await gateway.chat({ stream: true });
  await panic(gateway, { model: "rescue", ...signed });
  finish();
  expect(await answer.text()).toContain(" last");
  expect(await said(answer)).toEqual([200, "large", config.policyHash]);
});

it("records no more of the names that clients ask for than it says to clients", async () => {
  const { config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  await panic(gateway, { model: "middle", ...signed });
  expect((await gateway.chat({ model: "x".repeat(100_000) })).status).toBe(200);
  expect((await gateway.decisions()).at(-1)?.asked).toBe("x".repeat(200));
});

it("keeps keys and their rates, the bound of its model's queue and the deadline", async () => {
  const large = await heldEngine();
  const small = await startTestEngine((_, response) => sayCompletion(response, "small"));
  const gateway = await startTestGateway({ queuedPerModel: 2, requestSeconds: 2 });
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  const keyed = (name: string, requestsPerMinute: number) => ({
    name,
    sha256: createHash("sha256").update(name).digest("hex"),
    requestsPerMinute,
  });
  const settings = { keys: [keyed("ann", 100), keyed("bob", 1)] };
  await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: small.url, maxInFlight: 1, settings }));
  await panic(gateway, { model: "large", ...signed });
  const of = (key: string) => gateway.chat({}, { headers: { "content-type": "application/json", authorization: `Bearer ${key}` } });
  expect((await gateway.chat({})).status).toBe(401);
  const answers = [of("ann"), of("bob")];
  await until(() => large.asked.length === 1);
  expect((await of("bob")).status).toBe(429);
  answers.push(of("ann"));
  await until(async () => (await statusOf(gateway)).queued.large === 2);
  const full = await of("ann");
  expect([full.status, ((await full.json()) as { error: { code: string } }).error.code]).toEqual([429, "queue_full"]);
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([504, 504, 504]);
});

it.each([
  [
    "a model without engines",
    { model: "nobody", ...signed },
    409,
    'No engine of "nobody" takes new work; there are engines of small, middle, large.',
  ],
  ["no name of who asks", { model: "middle", reason: "" }, 400, "`by`"],
  ["a member nobody knows", { model: "middle", ...signed, until: 5 }, 400, "until"],
  ["no object", 5, 400, "object"],
])("is refused with a sentence for %s", async (_, body, status, sentence) => {
  const { config } = await threeModels();
  const gateway = await startTestGateway();
  await gateway.put(config);
  const answer = await panic(gateway, body);
  const { message } = ((await answer.json()) as { error: { message: string } }).error;
  expect(answer.status).toBe(status);
  expect(message).toContain(sentence);
  expect(message).not.toContain("\n");
  expect(await (await fetch(`${gateway.adminUrl}/panic`)).json()).toBe(null);
});

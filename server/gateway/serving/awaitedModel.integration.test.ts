import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

const cordoned = <Config extends ReturnType<typeof oneModel>>(config: Config): Config => ({
  ...config,
  replicas: config.replicas.map((replica) => ({ ...replica, state: "cordoned" as const })),
});

describe("a model that a roll-out brings back", () => {
  it("has its requests wait, streams too, until an engine of it takes work", async () => {
    const engine = await startTestEngine(({ body }, response) => {
      if (body.stream !== true) return sayCompletion(response, "late");
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${streamEvent({ content: "late" }, "stop")}data: [DONE]\n\n`);
    });
    const gateway = await startTestGateway();
    const config = oneModel([engine.url]);
    await gateway.put({ ...cordoned(config), awaited: ["large"] });
    const waiting = [gateway.chat({}), gateway.chat({ model: "large" }), gateway.chat({ stream: true })];
    const queued = async () =>
      ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> }).queued.large;
    await until(async () => (await queued()) === 3);
    expect(engine.asked).toHaveLength(0);
    await gateway.put(config);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await (await waiting[2]!).text()).toMatch(/late.*\[DONE\]/s);
    expect((await gateway.decisions()).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("goes on with the engine of another plan where that comes instead", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "from the other plan"));
    const gateway = await startTestGateway();
    await gateway.put({ ...cordoned(oneModel([engine.url])), awaited: ["large"] });
    const waiting = gateway.chat({});
    await until(async () => (await (await fetch(`${gateway.adminUrl}/status`)).text()).includes('"large":1'));
    await gateway.put(testConfig({ stages: [{ model: "other", urls: [engine.url] }], planId: "plan-b" }));
    const answer = await waiting;
    expect([answer.status, answer.headers.get("x-weir-plan")]).toEqual([200, "plan-b"]);
  });

  it("holds them no longer than a request may take, and turns them away as ever where nothing is awaited", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "never"));
    const gateway = await startTestGateway({ requestSeconds: 0.3 });
    await gateway.put({ ...cordoned(oneModel([engine.url])), awaited: ["large"] });
    expect((await gateway.chat({})).status).toBe(504);
    await gateway.put(cordoned(oneModel([engine.url])));
    expect((await gateway.chat({})).status).toBe(503);
    expect(engine.asked).toHaveLength(0);
  });
});

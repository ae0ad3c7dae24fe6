import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine, type TestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";

/** An engine without `/health` that counts its requests; it fails them while `failing`. */
async function withoutHealth() {
  const state = { failing: true, listed: ["large"], questions: [] as string[] };
  const engine = await startTestEngine((_, response) => (state.failing ? response.writeHead(500).end() : sayCompletion(response, "back")));
  const asked = (path: string, status: () => number, body: () => string): void => {
    engine.pages.set(path, (response) => {
      state.questions.push(path);
      response.writeHead(status(), { "content-type": "application/json" }).end(body());
    });
  };
  asked(
    "/health",
    () => 404,
    () => '{"detail":"Not Found"}',
  );
  asked(
    "/v1/models",
    () => 200,
    () => JSON.stringify({ object: "list", data: state.listed.map((id) => ({ id, object: "model" })) }),
  );
  return { engine, state };
}

const gatewayTo = async (engine: TestEngine): Promise<TestGateway> => {
  const gateway = await startTestGateway({ attemptsPerStage: 1 });
  await gateway.put(oneModel([engine.url]));
  return gateway;
};

const replicaOf = async ({ adminUrl }: TestGateway) => {
  const { replicas } = (await (await fetch(`${adminUrl}/status`)).json()) as { replicas: { state: string; reason?: string }[] };
  return replicas[0];
};

describe("an engine that failed and has no /health", () => {
  it("is taken back once it lists its model, which alone it is asked from then on", async () => {
    const { engine, state } = await withoutHealth();
    const gateway = await gatewayTo(engine);
    expect((await gateway.chat({})).status).toBe(502);
    state.failing = false;
    expect((await gateway.chat({})).status).toBe(200);
    state.failing = true;
    expect((await gateway.chat({})).status).toBe(502);
    state.failing = false;
    expect((await gateway.chat({})).status).toBe(200);
    expect(state.questions).toEqual(["/health", "/v1/models", "/v1/models"]);
  });

  it("stays out while it lists other models only, and the status says so", async () => {
    const { engine, state } = await withoutHealth();
    state.listed = ["another"];
    const gateway = await gatewayTo(engine);
    expect((await gateway.chat({})).status).toBe(502);
    await until(async () => (await replicaOf(gateway))?.reason === "/v1/models does not list large");
    state.failing = false;
    state.listed = ["another", "large"];
    expect((await gateway.chat({})).status).toBe(200);
  });

  it("is asked for its health again where another engine took its place", async () => {
    const { engine, state } = await withoutHealth();
    const gateway = await gatewayTo(engine);
    expect((await gateway.chat({})).status).toBe(502);
    await until(async () => (await replicaOf(gateway))?.state === "active");
    engine.pages.delete("/v1/models");
    engine.pages.set("/health", (response) => {
      state.questions.push("good health");
      response.writeHead(200).end();
    });
    expect((await gateway.chat({})).status).toBe(502);
    await until(async () => (await replicaOf(gateway))?.state === "active");
    expect(state.questions).toEqual(["/health", "/v1/models", "good health"]);
  });

  it("is out with a reason where neither is found, and where the list is no list", async () => {
    const { engine } = await withoutHealth();
    engine.pages.delete("/v1/models");
    const gateway = await gatewayTo(engine);
    expect((await gateway.chat({})).status).toBe(502);
    await until(async () => (await replicaOf(gateway))?.reason === "neither /health nor /v1/models is found there");
    engine.pages.set("/v1/models", (response) => response.writeHead(200).end("<html>"));
    await until(async () => (await replicaOf(gateway))?.reason === "/v1/models does not list large");
  });

  it("is asked ever more rarely while it is listed and goes on failing", async () => {
    const { engine, state } = await withoutHealth();
    const gateway = await gatewayTo(engine);
    const until400Ms = performance.now() + 400;
    while (performance.now() < until400Ms) await gateway.chat({}, { signal: AbortSignal.timeout(100) }).catch(() => null);
    // An immediate check after each failure would make some seven.
    expect(state.questions.length).toBeLessThanOrEqual(5);
  });
});

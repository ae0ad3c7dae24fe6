import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decisionSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { ask, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { sayCompletion, startTestEngine, type TestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";

const page = (value: unknown) => (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));

/** vLLM's first engine: it refuses a priority unless it orders by priority. */
async function oldVllm({ ordered }: { readonly ordered: boolean }): Promise<TestEngine> {
  const engine = await startTestEngine(({ body }, response) => {
    if (ordered || (body.priority ?? 0) === 0) return sayCompletion(response, "done");
    const error = { message: `Got priority ${body.priority} but Priority scheduling is not enabled.`, type: "BadRequestError", code: 400 };
    return response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  });
  engine.pages.set("/version", page({ version: "0.7.3" }));
  return engine;
}

/** SGLang: it never refuses a priority; its settings say whether it orders by priority. */
async function sglang(settings: Record<string, unknown>, path = "/server_info?config_format=json"): Promise<TestEngine> {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
  engine.pages.set(path, page({ schedule_low_priority_values_first: false, default_priority_value: null, ...settings }));
  return engine;
}

async function gatewayOver(engine: TestEngine): Promise<TestGateway> {
  const gateway = await startTestGateway();
  await gateway.put(oneModel([engine.url]));
  return gateway;
}

/** Requests of clients that `engine` was sent. */
const sent = (engine: TestEngine) => engine.asked.filter(({ headers }) => headers["x-request-id"] !== undefined).map(({ body }) => body);
const probes = (engine: TestEngine) => engine.asked.filter(({ headers }) => headers["x-request-id"] === undefined).map(({ body }) => body);

/** What the record says about the priority of a request. */
async function fateOf(gateway: TestGateway, body: Record<string, unknown>): Promise<string | undefined> {
  const answer = await gateway.chat(body);
  expect(answer.status).toBe(200);
  await answer.text();
  const id = answer.headers.get("x-weir-decision-id");
  const record = await fetch(`${gateway.adminUrl}/decisions/${id}`);
  return decisionSchema.strict().parse(await record.json()).stages[0]?.engine?.priority;
}

describe("a request's priority", () => {
  it("is left out for an engine that refuses it, which is found out by one request for one token", async () => {
    const engine = await oldVllm({ ordered: false });
    const gateway = await gatewayOver(engine);
    for (let request = 0; request < 5; request += 1) expect(await fateOf(gateway, { priority: 5 })).toBe("stripped");
    await until(() => probes(engine).length === 1);
    expect(await fateOf(gateway, { priority: -5 })).toBe("stripped");
    expect(probes(engine)).toEqual([{ model: "large", messages: [{ role: "user", content: "Hi" }], max_tokens: 1, priority: 1 }]);
    for (const body of sent(engine)) expect(body).not.toHaveProperty("priority");
  });

  it("goes unchanged to an engine that takes it and does not tell what it does with it", async () => {
    const engine = await oldVllm({ ordered: true });
    const gateway = await gatewayOver(engine);
    await until(async () => (await fateOf(gateway, { priority: 5 })) === "offered");
    expect(await fateOf(gateway, { priority: -3 })).toBe("offered");
    expect(sent(engine).at(-1)).toMatchObject({ priority: -3 });
    expect(await fateOf(gateway, {})).toBeUndefined();
    expect(sent(engine).at(-1)).not.toHaveProperty("priority");
    expect(probes(engine)).toHaveLength(1);
  });

  it.each(["/server_info?config_format=json", "/get_server_info"])(
    "is turned round for an engine that orders higher first and tells so at %s, which is asked no other question",
    async (path) => {
      const engine = await sglang({ enable_priority_scheduling: true }, path);
      const gateway = await gatewayOver(engine);
      await until(async () => (await fateOf(gateway, { priority: 5 })) === "negated");
      expect(sent(engine).at(-1)).toMatchObject({ priority: -5 });
      expect(await fateOf(gateway, { priority: -7 })).toBe("negated");
      expect(sent(engine).at(-1)).toMatchObject({ priority: 7 });
      // The engine would put a request without a priority last, and not between -7 and 5.
      expect(await fateOf(gateway, {})).toBeUndefined();
      expect(sent(engine).at(-1)).toMatchObject({ priority: 0 });
      expect(probes(engine)).toEqual([]);
    },
  );

  it("goes unchanged to an engine that tells it orders lower first", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    engine.pages.set("/server_info?config_format=json", page({ vllm_config: { scheduler_config: { policy: "priority" } } }));
    const gateway = await gatewayOver(engine);
    await until(async () => (await fateOf(gateway, { priority: 5 })) === "passed");
    expect(sent(engine).at(-1)).toMatchObject({ priority: 5 });
  });

  it("is left out for an engine that would read it without effect, and for one of no known kind", async () => {
    for (const engine of [
      await sglang({ enable_priority_scheduling: false }),
      await startTestEngine((_, response) => sayCompletion(response, "done")),
    ]) {
      let asked = 0;
      engine.pages.set("/version", (response) => {
        asked += 1;
        response.writeHead(404).end();
      });
      const gateway = await gatewayOver(engine);
      for (let request = 0; request < 20; request += 1) expect(await fateOf(gateway, { priority: 5 })).toBe("stripped");
      expect(asked).toBeLessThanOrEqual(1);
      expect(engine.asked).toHaveLength(20);
      for (const body of sent(engine)) expect(body).not.toHaveProperty("priority");
    }
  });

  it("makes the gateway ask nothing of engines until a client gives one", async () => {
    const engine = await oldVllm({ ordered: true });
    const gateway = await gatewayOver(engine);
    for (const body of [{}, { priority: null }]) expect(await fateOf(gateway, body)).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(engine.asked).toHaveLength(2);
    expect(sent(engine)[1]).not.toHaveProperty("priority");
  });

  it("is asked about again when the engine has failed, since it may have been started anew", async () => {
    let broken = false;
    const engine = await startTestEngine((_, response) => (broken ? response.destroy() : sayCompletion(response, "done")));
    engine.pages.set("/get_server_info", page({ enable_priority_scheduling: true }));
    const gateway = await gatewayOver(engine);
    await until(async () => (await fateOf(gateway, { priority: 5 })) === "negated");
    engine.pages.set("/get_server_info", page({ enable_priority_scheduling: true, schedule_low_priority_values_first: true }));
    expect(await fateOf(gateway, { priority: 5 })).toBe("negated");
    broken = true;
    const before = engine.asked.length;
    const failing = gateway.chat({ priority: 5 });
    await until(() => engine.asked.length > before);
    broken = false;
    expect((await failing).status).toBe(200);
    await until(async () => (await fateOf(gateway, { priority: 5 })) === "passed");
    expect(sent(engine).at(-1)).toMatchObject({ priority: 5 });
  });

  it("is asked about again when the engine, started anew unnoticed, refuses it", async () => {
    let ordered = true;
    const engine = await startTestEngine(({ body }, response) => {
      if (ordered || (body.priority ?? 0) === 0) sayCompletion(response, "done");
      else response.writeHead(400).end("{}");
    });
    engine.pages.set("/version", page({ version: "0.7.3" }));
    const gateway = await gatewayOver(engine);
    await until(async () => (await fateOf(gateway, { priority: 5 })) === "offered");
    ordered = false;
    expect((await gateway.chat({ priority: 5 })).status).toBe(400);
    for (let request = 0; request < 10; request += 1) expect(await fateOf(gateway, { priority: 5 })).toBe("stripped");
    const asked = probes(engine).length;
    await until(async () => {
      expect(await fateOf(gateway, { priority: 5 })).toBe("stripped");
      return probes(engine).length > asked;
    });
    expect(await fateOf(gateway, { priority: 5 })).toBe("stripped");
  });

  it.each([1.5, "5", true, 2 ** 60, {}])("that is %j is refused in a sentence", async (priority) => {
    const engine = await oldVllm({ ordered: true });
    const answer = await (await gatewayOver(engine)).chat({ priority });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(/must be an integer/), param: "priority" } });
    expect(engine.asked).toEqual([]);
  });
});

describe("a request without a priority, where the policy orders by length", () => {
  /** A gateway over an engine of vLLM's kind that orders lower values first, or one of SGLang's, which orders higher values first. */
  async function ordering(kind: "vllm" | "sglang") {
    const engine =
      kind === "vllm"
        ? await startTestEngine((_, response) => sayCompletion(response, "done"))
        : await sglang({ enable_priority_scheduling: true });
    if (kind === "vllm")
      engine.pages.set("/server_info?config_format=json", page({ vllm_config: { scheduler_config: { policy: "priority" } } }));
    const gateway = await startTestGateway();
    const order = { kind: "sjf", agingThreshold: 100 } as const;
    await gateway.put({ ...oneModel([engine.url]), ...hashed({ kind: "fixed", model: "large", order, place: { kind: "least-load" } }) });
    return { engine, gateway };
  }

  it.each([
    ["vllm", "passed", 1],
    ["sglang", "negated", -1],
  ] as const)("is sent to %s with the order's key, %s", async (kind, fate, sign) => {
    const { engine, gateway } = await ordering(kind);
    await until(async () => (await fateOf(gateway, { max_tokens: 20 })) === fate);
    const keys = [20, 3, 900, 21, 1];
    for (const most of keys) expect(await fateOf(gateway, { max_tokens: most })).toBe(fate);
    expect(
      sent(engine)
        .slice(-5)
        .map(({ priority }) => priority),
    ).toEqual(keys.map((key) => sign * key));
    // The client's own priority takes precedence.
    expect(await fateOf(gateway, { max_tokens: 20, priority: -7 })).toBe(fate);
    expect(sent(engine).at(-1)).toMatchObject({ priority: sign * -7 });
  });

  it("is sent with none to an engine that does not order, and with none under first come, first served", async () => {
    const engine = await oldVllm({ ordered: false });
    const gateway = await startTestGateway();
    const order = { kind: "sjf", agingThreshold: 100 } as const;
    await gateway.put({ ...oneModel([engine.url]), ...hashed({ kind: "fixed", model: "large", order, place: { kind: "least-load" } }) });
    for (let request = 0; request < 3; request += 1) expect(await fateOf(gateway, { max_tokens: 5 })).toBe("stripped");
    await gateway.put(oneModel([engine.url]));
    expect(await fateOf(gateway, { max_tokens: 5 })).toBeUndefined();
    for (const body of sent(engine)) expect(body).not.toHaveProperty("priority");
  });
});

describe("with an engine that does as vLLM's present one does", () => {
  let emulators: TestEmulators;
  beforeEach(async () => {
    emulators = new TestEmulators(await freePort());
  });
  afterEach(() => emulators.end());

  it("a priority is offered: it is taken, and nothing tells whether the engine orders by it", async () => {
    const { engineUrl } = await emulators.serving();
    const gateway = await startTestGateway();
    await gateway.put(testConfig({ stages: [{ model: MODEL, urls: [engineUrl] }] }));
    await until(async () => (await fateOf(gateway, { ...ask("short"), model: "cascade/test", priority: 5 })) === "offered");
  });
});

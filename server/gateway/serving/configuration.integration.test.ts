import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestGateway, temporaryDirectory, testConfig, until } from "../testing/testGateway";

const config = testConfig({ stages: [{ model: "large", urls: ["http://127.0.0.1:9"] }] });
const put = (adminUrl: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${adminUrl}/config`, { method: "PUT", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

const statusOf = async ({ adminUrl }: TestGateway) => gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json());
const withReplica = (change: object) => ({ ...config, replicas: config.replicas.map((one) => ({ ...one, ...change })) });

describe("the gateway's configuration", () => {
  it("is written only against the ETag that was read", async () => {
    const { adminUrl } = await startTestGateway();
    const empty = await fetch(`${adminUrl}/config`);
    expect([empty.status, empty.headers.get("etag")]).toEqual([404, '"none"']);
    expect((await put(adminUrl, config)).status).toBe(428);
    expect((await put(adminUrl, config, { "if-match": '"stale"' })).status).toBe(412);
    const first = await put(adminUrl, config, { "if-match": '"none"' });
    expect(first.status).toBe(200);
    const read = await fetch(`${adminUrl}/config`);
    expect(await read.json()).toEqual(config);
    expect(read.headers.get("etag")).toBe(first.headers.get("etag"));
    expect((await put(adminUrl, config, { "if-match": '"none"' })).status).toBe(412);
    expect((await put(adminUrl, { ...config, planId: "b" }, { "if-match": read.headers.get("etag") ?? "" })).status).toBe(200);
  });

  it("lets one of two writers at the same moment win", async () => {
    const { adminUrl } = await startTestGateway();
    const answers = await Promise.all(["a", "b", "c"].map((planId) => put(adminUrl, { ...config, planId }, { "if-match": '"none"' })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 412, 412]);
  });

  const twoStages = testConfig({
    stages: [
      { model: "small", urls: ["http://127.0.0.1:9"] },
      { model: "large", urls: ["http://127.0.0.1:9"] },
    ],
    thresholds: [50],
  });
  it.each<[string, unknown, string]>([
    ["of another shape", { apiVersion: "weir/v1", kind: "GatewayConfig" }, "`name` is wrong"],
    ["with a stage nobody serves", { ...config, replicas: [] }, "The stage large has no replica"],
    ["that needs a judge and has none", twoStages, "needs judged scores, but no judge is given"],
    ["with two replicas of one name", { ...config, replicas: [...config.replicas, ...config.replicas] }, "Two replicas are called large-0"],
    [
      "with an address that is no HTTP",
      { ...config, replicas: config.replicas.map((one) => ({ ...one, url: "ftp://x" })) },
      "ftp://x is not an http",
    ],
    ["with a password in an address", withReplica({ url: "http://ann:secret@h:1" }), "The address of h:1 holds a user or a password"],
    ["with a query in an address", withReplica({ url: "http://h:1/x?key=5" }), "The address h:1/x ends in a query"],
    ["with an address that ends where paths begin", withReplica({ url: "http://h:1/v1" }), "http://h:1/v1 ends in /v1"],
    ["whose judge has such an address", { ...config, judge: { model: "j", url: "http://h:1/v1/" } }, "http://h:1/v1/ ends in /v1"],
    ["whose plan id is no header", { ...config, planId: "plan-\u2192" }, "`planId` is wrong: it goes into the headers of answers"],
    ["whose plan id breaks a header", { ...config, planId: "plan\nb" }, "`planId` is wrong"],
    ["whose model is no header", withReplica({ model: "\u6a21\u578b" }), "`replicas.0.model` is wrong"],
    ["with a model of the cascade's own name", withReplica({ model: "cascade/test" }), "cascade/test, a reserved name"],
    ["with a model of a name to come", withReplica({ model: "workflow/a" }), "a reserved name"],
    ["with more in flight than can be counted", withReplica({ maxInFlight: 2 ** 32 }), "`replicas.0.maxInFlight` is wrong"],
    ["with a judge's time beyond every timer", { ...config, settings: { judge: { timeoutSeconds: 3e6 } } }, "timeoutSeconds"],
    ["with a judge of countless calls", { ...config, settings: { judge: { maxInFlight: 3e9 } } }, "maxInFlight"],
    ["with a time that does not pass", { ...config, timeScale: 1e-9 }, "`timeScale`"],
    ["with a time beyond numbers", { ...config, timeScale: 1e308 }, "`timeScale`"],
  ])("is refused with the reason when it is one %s, and nothing changes", async (_, body, reason) => {
    const { adminUrl } = await startTestGateway();
    const answer = await put(adminUrl, body, { "if-match": '"none"' });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toContain(reason);
    expect((await fetch(`${adminUrl}/config`)).status).toBe(404);
  });

  it("is kept on disk and served again by a gateway that starts alone", async () => {
    const stateDirectory = await temporaryDirectory();
    const engine = await startTestEngine((_, response) => sayCompletion(response, "still here"));
    const first = await startTestGateway({}, { stateDirectory });
    await first.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    await first.close();
    const second = await startTestGateway({}, { stateDirectory });
    expect((await second.chat({})).status).toBe(200);
  });

  it("that cannot be read leaves a gateway without one, and the file as it is", async () => {
    const stateDirectory = await temporaryDirectory();
    await writeFile(join(stateDirectory, "gateway.json"), '{"kind":');
    const { adminUrl, dataUrl } = await startTestGateway({}, { stateDirectory });
    expect((await fetch(`${adminUrl}/config`)).status).toBe(404);
    expect((await fetch(`${dataUrl}/health/ready`)).status).toBe(503);
    expect(await readFile(join(stateDirectory, "gateway.json"), "utf8")).toBe('{"kind":');
  });

  it("needs the bearer token, which health and metrics do not", async () => {
    const { adminUrl } = await startTestGateway({}, { adminToken: "secret" });
    expect((await fetch(`${adminUrl}/status`)).status).toBe(401);
    expect((await fetch(`${adminUrl}/status`, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    expect((await fetch(`${adminUrl}/status`, { headers: { authorization: "Bearer secret" } })).status).toBe(200);
    expect((await fetch(`${adminUrl}/health`)).status).toBe(200);
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain("# TYPE weir_gateway_requests_total counter");
  });
});

describe("a change of configuration", () => {
  const delayed = (text: string) => startTestEngine((_, response) => setTimeout(() => sayCompletion(response, text), 10));

  it("under load loses no request, whichever engines, thresholds and plan it brings", async () => {
    const engines = await Promise.all(["a", "b", "c", "d"].map(delayed));
    let judged = 0;
    const judge = await startTestEngine((_, response) => sayCompletion(response, String((judged++ * 37) % 101)));
    const url = (index: number) => engines[index % engines.length]?.url ?? "";
    const version = (index: number): GatewayConfig => {
      const urls = [url(index), url(index + 1)];
      const large = { model: "large", urls };
      if (index % 3 === 2) return testConfig({ stages: [large], maxInFlight: 2, planId: `plan-${index}` });
      const stages = [{ model: "small", urls: [url(index + 2)] }, large];
      return testConfig({ stages, thresholds: [10 * index], judgeUrl: judge.url, maxInFlight: 2, planId: `plan-${index}` });
    };
    const gateway = await startTestGateway();
    await gateway.put(version(0));
    const answers: Promise<Response>[] = [];
    for (let index = 1; index <= 8; index += 1) {
      for (let request = 0; request < 10; request += 1) answers.push(gateway.chat({ stream: request % 3 === 0 }));
      // The version in force has served some requests when the next one meets the rest in flight.
      await Promise.all(answers.slice(-10, -5));
      await gateway.put(version(index));
    }
    const bodies = await Promise.all(answers.map(async (answer) => ({ status: (await answer).status, text: await (await answer).text() })));
    expect(bodies.filter(({ status, text }) => status !== 200 || !text.includes('"content":'))).toEqual([]);
    const plans = new Set((await gateway.decisions()).map(({ planId }) => planId));
    expect(plans.size).toBeGreaterThan(3);
    const status = await statusOf(gateway);
    expect(status.replicas.map(({ inFlight }) => inFlight)).toEqual(status.replicas.map(() => 0));
  });

  it("lets a request finish on the engine and under the plan it began with", async () => {
    const engine = await startTestEngine((_, response) => setTimeout(() => sayCompletion(response, "old"), 100));
    const gateway = await startTestGateway();
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [engine.url] }] }));
    const answer = gateway.chat({});
    while (engine.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await gateway.put(testConfig({ stages: [{ model: "other", urls: ["http://127.0.0.1:9"] }], planId: "plan-b" }));
    const status = await statusOf(gateway);
    expect(status.replicas).toContainEqual({ id: "large-0", model: "large", state: "cordoned", inFlight: 1 });
    expect((await answer).headers.get("x-weir-plan")).toBe("plan-a");
  });

  it("starts queued requests over under the new plan when their model has left", async () => {
    const slow = await heldEngine();
    const fresh = await delayed("new");
    const gateway = await startTestGateway();
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [slow.url] }], maxInFlight: 1 }));
    const answers = [gateway.chat({}), gateway.chat({}), gateway.chat({})];
    await until(async () => (await statusOf(gateway)).queued.large === 2);
    await gateway.put(testConfig({ stages: [{ model: "other", urls: [fresh.url] }], planId: "plan-b" }));
    slow.open();
    const plans = (await Promise.all(answers)).map((answer) => answer.headers.get("x-weir-plan"));
    expect(plans.sort()).toEqual(["plan-a", "plan-b", "plan-b"]);
  });

  it("goes on serving clients that name an earlier plan, by the one in force, also after a restart", async () => {
    const engine = await delayed("here");
    const stateDirectory = await temporaryDirectory();
    const gateway = await startTestGateway({}, { stateDirectory });
    const version = (name: string) => ({
      ...testConfig({ stages: [{ model: "large", urls: [engine.url] }], planId: `plan-${name}` }),
      name,
    });
    for (let index = 0; index < 12; index += 1) await gateway.put(version(`v${index}`));
    await gateway.put(version("v9"));
    const planOf = async ({ chat }: typeof gateway, model: string) => {
      const answer = await chat({ model });
      return answer.status === 200 ? answer.headers.get("x-weir-plan") : answer.status;
    };
    for (const name of ["default", "v9", "v11", "v10", "v3"]) expect(await planOf(gateway, `cascade/${name}`)).toBe("plan-v9");
    expect(await planOf(gateway, "cascade/v2")).toBe(404);
    await gateway.close();
    const restarted = await startTestGateway({}, { stateDirectory });
    for (const name of ["default", "v9", "v11", "v3"]) expect(await planOf(restarted, `cascade/${name}`)).toBe("plan-v9");
    expect(await planOf(restarted, "cascade/v2")).toBe(404);
    const listed = (await (await fetch(`${restarted.dataUrl}/v1/models`)).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toEqual(["cascade/default", "cascade/v9", "large"]);
  });

  it("starts queued requests over under a plan of another name", async () => {
    const slow = await heldEngine();
    const fresh = await delayed("new");
    const gateway = await startTestGateway();
    await gateway.put(testConfig({ stages: [{ model: "large", urls: [slow.url] }], maxInFlight: 1 }));
    const answers = ["test", "test", "default"].map((name) => gateway.chat({ model: `cascade/${name}` }));
    await until(async () => (await statusOf(gateway)).queued.large === 2);
    await gateway.put({ ...testConfig({ stages: [{ model: "other", urls: [fresh.url] }], planId: "plan-b" }), name: "renamed" });
    slow.open();
    const plans = (await Promise.all(answers)).map((answer) => answer.headers.get("x-weir-plan"));
    expect(plans.sort()).toEqual(["plan-a", "plan-b", "plan-b"]);
  });

  it("keeps new work from a cordoned engine and lets it finish what it has", async () => {
    const [first, second] = [await delayed("first"), await delayed("second")];
    const gateway = await startTestGateway();
    const both = testConfig({ stages: [{ model: "large", urls: [first.url, second.url] }] });
    await gateway.put(both);
    const before = gateway.chat({});
    while (first.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await gateway.put({
      ...both,
      replicas: both.replicas.map((one, index) => (index === 0 ? { ...one, state: "cordoned" as const } : one)),
    });
    const after = await Promise.all(Array.from({ length: 5 }, () => gateway.chat({})));
    expect((await before).status).toBe(200);
    expect(after.every((answer) => answer.status === 200)).toBe(true);
    expect([first.asked.length, second.asked.length]).toEqual([1, 5]);
  });
});

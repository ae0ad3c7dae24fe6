import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { needs, program } from "@/scripts/needs.mjs";
import { type GatewayConfig, type GatewayStatus, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type ServerCertificate, testCertificates } from "@/server/contracts/testing/testCertificates";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, type TestGateway, testConfig, until } from "../testing/testGateway";

const certificates = testCertificates();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-secrets-"));
  vi.stubEnv("WEIR_SECRETS_DIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

type Change = Partial<GatewayConfig["replicas"][number]>;
/** A configuration of one engine each for `large`, changed one by one. */
const withEngines = (urls: readonly string[], changes: readonly Change[]): GatewayConfig => {
  const config = oneModel(urls);
  return { ...config, replicas: config.replicas.map((replica, index) => ({ ...replica, ...changes[index] })) };
};
const replicasOf = async ({ adminUrl }: TestGateway): Promise<GatewayStatus["replicas"]> =>
  gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).replicas;
const ask = (gateway: TestGateway, body: Record<string, unknown> = {}) =>
  gateway.post(
    "/v1/chat/completions",
    { model: "large", messages: [{ role: "user", content: "?" }], ...body },
    { authorization: "Bearer of-the-client" },
  );

describe("an engine's own key", () => {
  it("goes to that engine alone, in place of the client's, with streams and looks at its health and metrics too", async () => {
    vi.stubEnv("WEIR_ENGINE_A", "sk-engine-a");
    const seen: (string | undefined)[] = [];
    const engine = await startTestEngine(({ body }, response) =>
      body.stream === true
        ? response.writeHead(200, { "content-type": "text/event-stream" }).end(`${streamEvent({ content: "4" }, "stop")}data: [DONE]\n\n`)
        : sayCompletion(response, "4"),
    );
    for (const path of ["/health", "/metrics"])
      engine.pages.set(path, (response) => {
        seen.push(response.req.headers.authorization);
        response.writeHead(200).end();
      });
    const other = await startTestEngine((_, response) => sayCompletion(response, "5"));
    const gateway = await startTestGateway();
    const config = withEngines([engine.url], [{ key: { environment: "WEIR_ENGINE_A" } }]);
    const policy = testConfig({ stages: [{ model: "large", urls: [engine.url] }] });
    await gateway.put({
      ...policy,
      replicas: [...config.replicas, { id: "small-0", model: "small", url: other.url, state: "active", maxInFlight: 8 }],
    });
    expect((await ask(gateway)).status).toBe(200);
    expect(await (await ask(gateway, { stream: true })).text()).toContain("[DONE]");
    expect((await ask(gateway, { model: "small" })).status).toBe(200);
    expect(engine.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-engine-a", "Bearer sk-engine-a"]);
    expect(other.asked.map(({ headers }) => headers.authorization)).toEqual(["Bearer of-the-client"]);
    expect(seen.every((one) => one === "Bearer sk-engine-a")).toBe(true);

    const told = await Promise.all(
      ["/config", "/status", "/decisions", "/metrics", "/audit"].map(async (path) => (await fetch(`${gateway.adminUrl}${path}`)).text()),
    );
    expect(told.join()).toContain("WEIR_ENGINE_A");
    expect(told.join()).not.toContain("sk-engine-a");
  });

  it("that is not there makes the engine unhealthy with the reason, sends nothing, and is taken up once it is", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const gateway = await startTestGateway();
    await gateway.put(withEngines([engine.url], [{ key: { file: "a.key" } }]));
    expect(await replicasOf(gateway)).toMatchObject([
      { state: "unhealthy", reason: "The file a.key in the folder of secrets cannot be read (ENOENT)" },
    ]);
    expect((await ask(gateway)).status).toBeGreaterThanOrEqual(500);
    expect(engine.asked).toEqual([]);
    writeFileSync(join(folder, "a.key"), "sk-first\n");
    await until(async () => (await replicasOf(gateway))[0]?.state === "active");
    expect((await ask(gateway)).status).toBe(200);
    writeFileSync(join(folder, "a.key"), "sk-second\n");
    await until(async () => {
      await ask(gateway);
      return engine.asked.at(-1)?.headers.authorization === "Bearer sk-second";
    });
    expect(engine.asked[0]?.headers.authorization).toBe("Bearer sk-first");
  });

  it("that the engine refuses is the gateway's trouble: a client hears nothing of what the engine says of it", async () => {
    vi.stubEnv("WEIR_ENGINE_A", "sk-wrong");
    const engine = await startTestEngine(({ headers }, response) =>
      response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: `no ${headers.authorization}` })),
    );
    const gateway = await startTestGateway();
    await gateway.put(withEngines([engine.url], [{ key: { environment: "WEIR_ENGINE_A" } }]));
    const answer = await ask(gateway);
    expect(answer.status).toBe(502);
    const text = await answer.text();
    expect(text).toContain("refuses the API key that the gateway has for it");
    expect(text + JSON.stringify(await gateway.decisions())).not.toContain("sk-wrong");
  });

  it("outside the folder of secrets is refused, and so are a key in plain words and a CA for plain http", async () => {
    const gateway = await startTestGateway();
    const url = "http://127.0.0.1:9";
    await expect(gateway.put(withEngines([url], [{ key: { file: "../x" } }]))).rejects.toThrow(/400 .*large-0.*outside the folder/);
    await expect(gateway.put(withEngines([url], [{ caFile: "ca.pem" }]))).rejects.toThrow(/400 .*is not an https address/);
    const plain = gateway.put(withEngines([url], [{ key: "sk-plain" as never }]));
    await expect(plain).rejects.toThrow(/400/);
    expect(String(await plain.catch(String))).not.toContain("sk-plain");
  });

  it("and another name for the model take effect on an engine that stays", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const gateway = await startTestGateway();
    await gateway.put(withEngines([engine.url], [{}]));
    await ask(gateway);
    vi.stubEnv("WEIR_ENGINE_A", "sk-a");
    await gateway.put(withEngines([engine.url], [{ key: { environment: "WEIR_ENGINE_A" }, servedName: "org/Large-Instruct" }]));
    await ask(gateway);
    expect(engine.asked.map(({ body, headers }) => [body.model, headers.authorization])).toEqual([
      ["large", "Bearer of-the-client"],
      ["org/Large-Instruct", "Bearer sk-a"],
    ]);
  });
});

/** A request whose only engine is out of service waits no longer than this. */
const short = { requestSeconds: 0.5 };

async function startTls({ key, cert }: ServerCertificate) {
  let asked = 0;
  const server = createServer({ key, cert }, (request, response) => {
    asked += 1;
    request.resume();
    if (request.method === "GET") response.writeHead(200).end();
    else sayCompletion(response, "4");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked, close: () => server.close() };
}

describe("an engine behind TLS", needs(program("openssl")), () => {
  it("is reached with the authority of its CA file and not without", async () => {
    const server = await startTls(certificates!.good);
    const gateway = await startTestGateway(short);
    writeFileSync(join(folder, "ca.pem"), certificates!.ca);
    await gateway.put(withEngines([server.url], [{ caFile: "ca.pem" }]));
    expect((await ask(gateway)).status).toBe(200);
    await gateway.put(withEngines([server.url], [{}]));
    expect((await ask(gateway)).status).toBe(503);
    await until(async () => /self.signed|certificate|UNABLE|SELF/i.test((await replicasOf(gateway))[0]?.reason ?? ""));
    server.close();
  });

  it("is out with a reason while the CA file is wrong, and back when it is right", async () => {
    const server = await startTls(certificates!.good);
    const gateway = await startTestGateway(short);
    writeFileSync(join(folder, "ca.pem"), "not yet");
    await gateway.put(withEngines([server.url], [{ caFile: "ca.pem" }]));
    expect((await replicasOf(gateway))[0]?.reason).toBe("The file ca.pem holds no certificate in PEM form");
    writeFileSync(join(folder, "ca.pem"), certificates!.ca);
    await until(async () => (await replicasOf(gateway))[0]?.state === "active");
    expect((await ask(gateway)).status).toBe(200);
    server.close();
  });

  it.each(["expired", "elsewhere"] as const)("whose certificate is %s gets no request, and its key is not sent", async (which) => {
    vi.stubEnv("WEIR_ENGINE_A", "sk-a");
    const server = await startTls(certificates![which]);
    const gateway = await startTestGateway(short);
    writeFileSync(join(folder, "ca.pem"), certificates!.ca);
    await gateway.put(withEngines([server.url], [{ caFile: "ca.pem", key: { environment: "WEIR_ENGINE_A" } }]));
    // A busy machine may reach the request's deadline before the failed handshake ends.
    expect([503, 504]).toContain((await ask(gateway)).status);
    expect((await replicasOf(gateway))[0]?.reason).toMatch(/CERT/);
    expect(server.asked()).toBe(0);
    server.close();
  });
});

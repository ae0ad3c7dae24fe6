import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { workerFile } from "@/server/threads/workerFile";
import { sayCompletion, startTestEngine } from "./testing/testEngine";
import { oneModel, startTestGateway, temporaryDirectory, testConfig } from "./testing/testGateway";

const sha256 = (secret: string): string => createHash("sha256").update(secret).digest("hex");
const startKeys = [{ name: "team", sha256: sha256("right") }];
/** An address of this machine that is not its loopback. */
const outer = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

const ports = { WEIR_GATEWAY_PORT: "0", WEIR_GATEWAY_ADMIN_PORT: "0" };

/** The gateway as a process of its own, until it is up or has ended. */
async function started(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [workerFile("gateway")], {
    env: {
      ...{ ...process.env, ...ports, WEIR_ADMIN_TOKEN: "", WEIR_STUDIO_PUBLIC_KEY: "none", WEIR_STATE_DIR: await temporaryDirectory() },
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  let said = "";
  let logged = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  for await (const line of createInterface(child.stdout)) {
    logged += `${line}\n`;
    const { dataUrl } = JSON.parse(line) as { dataUrl?: string };
    if (dataUrl !== undefined) return { dataUrl, code: null, said, logged };
  }
  if (child.exitCode === null) await once(child, "exit");
  return { dataUrl: null, code: child.exitCode, said, logged };
}

describe("the gateway as a process", () => {
  it("does not start without an admin token, and says why in a sentence", async () => {
    expect(await started({})).toMatchObject({
      dataUrl: null,
      code: 1,
      said: "weir gateway: WEIR_ADMIN_TOKEN is not set, and without a token every program on this machine could change the configuration.\n",
    });
  });

  it.each(["0.0.0.0", "::"])("does not start on %s without API keys, and says why in a sentence", async (host) => {
    expect(await started({ WEIR_ADMIN_TOKEN: "t", WEIR_GATEWAY_HOST: host })).toMatchObject({
      dataUrl: null,
      code: 1,
      said: "weir gateway: The gateway listens on an address that other machines reach, so it needs API keys: name some in the configuration's settings or in WEIR_GATEWAY_KEYS.\n",
    });
  });

  it("starts there with keys, asks for one, and warns that nothing is encrypted", async () => {
    const { dataUrl, logged } = await started({
      ...{ WEIR_ADMIN_TOKEN: "t", WEIR_GATEWAY_HOST: "0.0.0.0", WEIR_GATEWAY_KEYS: `team:${sha256("right")}` },
      WEIR_GATEWAY_HOSTS: "llm.example.com",
    });
    const url = `http://127.0.0.1:${new URL(dataUrl ?? "").port}/v1/models`;
    expect(logged).toContain("keys and prompts travel unencrypted over 0.0.0.0: set WEIR_TLS_CERT_FILE and WEIR_TLS_KEY_FILE");
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { authorization: "Bearer right" } })).status).toBe(200);
  });

  it("does not start with keys that it cannot read", async () => {
    const { code, said } = await started({ WEIR_ADMIN_TOKEN: "t", WEIR_GATEWAY_KEYS: "team:secret" });
    expect([code, said]).toEqual([1, expect.stringMatching(/^weir gateway: WEIR_GATEWAY_KEYS must list keys as name:sha256/)]);
    expect(said).not.toContain("secret");
  });
});

describe("a gateway that other machines reach", () => {
  it("starts with the keys of its configuration, and refuses a configuration that would end them", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const stateDirectory = await temporaryDirectory();
    const own = await startTestGateway({}, { stateDirectory });
    await own.put({ ...oneModel([engine.url]), settings: { keys: startKeys } });
    await own.close();
    const reached = await startTestGateway({}, { stateDirectory, dataHost: "0.0.0.0" });
    const next = testConfig({ stages: [{ model: "large", urls: [engine.url] }], planId: "plan-b" });
    await expect(reached.put({ ...next, settings: {} })).rejects.toThrow("it needs API keys");
    await reached.put(next);
    const answer = await reached.chat({}, { headers: { "content-type": "application/json", authorization: "Bearer right" } });
    expect([answer.status, (await reached.chat({})).status]).toEqual([200, 401]);
  });

  it(
    "refuses connections of an address that has many, and takes them again when some are closed",
    needs(condition("an address besides loopback", outer !== undefined)),
    async () => {
      const gateway = await startTestGateway({ connectionsPerAddress: 20 }, { dataHost: "0.0.0.0", startKeys });
      const port = Number(new URL(gateway.dataUrl).port);
      const open = async (host: string): Promise<Socket> => {
        const socket = connect(port, host).on("error", () => undefined);
        onTestFinished(() => void socket.destroy());
        await once(socket, "connect");
        return socket;
      };
      const held = await Promise.all(Array.from({ length: 20 }, () => open(outer ?? "")));
      const refused = await open(outer ?? "");
      const [chunk] = await once(refused, "data");
      expect(String(chunk)).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n[\s\S]*retry-after: 1\r\n[\s\S]*"code":"too_many_connections"/);
      // Behind this address a proxy's clients may be.
      await Promise.all(Array.from({ length: 30 }, () => open("127.0.0.1")));
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
      for (const socket of held) socket.destroy();
      await Promise.all(held.map((socket) => socket.destroyed || once(socket, "close")));
      const ask = () => fetch(`http://${outer}:${port}/health`, { headers: { connection: "close" } }).then((answer) => answer.status);
      await expect.poll(ask).toBe(200);
    },
  );

  it(
    "makes an address that guesses keys wait, but not the client beside it",
    needs(condition("an address besides loopback", outer !== undefined)),
    async () => {
      const gateway = await startTestGateway({ heldAnswerSeconds: 0.05 }, { dataHost: "0.0.0.0", startKeys });
      const url = `http://${outer}:${new URL(gateway.dataUrl).port}/v1/models`;
      const ask = (key: string) => fetch(url, { headers: { authorization: `Bearer ${key}` } });
      expect((await ask("right")).status).toBe(200);
      const statuses = [];
      for (let at = 0; at < 25; at += 1) statuses.push((await ask(`guess-${at}`)).status);
      expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
      expect(statuses.at(-1)).toBe(429);
      const refused = await ask("guess");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(3);
      expect(await refused.json()).toMatchObject({
        error: { message: "Too many wrong API keys have come from this address.", type: "rate_limit_error", code: "too_many_wrong_keys" },
      });
      expect((await ask("right")).status).toBe(200);
    },
  );
});

describe("wrong keys by a proxy on this machine", () => {
  it("are refused after some, and hold up no right key of its other clients", async () => {
    const gateway = await startTestGateway({ heldAnswerSeconds: 0.05 }, { startKeys });
    const ask = (key: string) => fetch(`${gateway.dataUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(`guess-${at}`).then(({ status }) => status)));
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(21);
    expect(statuses).toContain(429);
    expect((await ask("right")).status).toBe(200);
  });

  it("are answered late once there are many, so that their sender is slow", async () => {
    const gateway = await startTestGateway({ heldAnswerSeconds: 0.2 }, { startKeys });
    const ask = () => fetch(`${gateway.dataUrl}/v1/models`, { headers: { authorization: "Bearer guess" } });
    let last = await ask();
    while (last.status === 401) last = await ask();
    const startMs = performance.now();
    for (let at = 0; at < 3; at += 1) expect((await ask()).status).toBe(429);
    expect(performance.now() - startMs).toBeGreaterThan(590);
  });
});

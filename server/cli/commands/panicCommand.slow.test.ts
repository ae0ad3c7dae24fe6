import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import { freePorts } from "@/server/testing/freePorts";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { weirIn } from "../testing/testWeir";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const token = createHash("sha256").update("a secret of this test").digest("hex");

let folder: string;
let ports: { readonly data: number; readonly admin: number };
let running: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-panic-"));
  // As the launcher stores it; the command gets it in no other way.
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "state", "admin-token"), `${token}\n`);
  const [data = 0, admin = 0] = await freePorts(2);
  ports = { data, admin };
  process.env.WEIR_GATEWAY_ADMIN_PORT = String(ports.admin);
});

afterEach(async () => {
  delete process.env.WEIR_GATEWAY_ADMIN_PORT;
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }
  running = [];
  rmSync(folder, { recursive: true, force: true });
});

/** The bundled gateway in its own process: no studio, no emulator. */
async function startGateway(): Promise<ChildProcess> {
  const env = {
    ...process.env,
    ...{ WEIR_GATEWAY_PORT: String(ports.data), WEIR_GATEWAY_ADMIN_PORT: String(ports.admin), WEIR_ADMIN_TOKEN: token },
    ...{ WEIR_STATE_DIR: join(folder, "state"), WEIR_LOG_LEVEL: "silent", WEIR_STUDIO_PUBLIC_KEY: "none" },
  };
  const child = spawn(process.execPath, [join(root, "dist", "gateway.mjs")], { env, stdio: ["ignore", "ignore", "inherit"] });
  running.push(child);
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${ports.admin}/health`).catch(() => null);
    if (answer?.ok) return child;
    if (child.exitCode !== null) throw new Error(`The gateway ended with ${child.exitCode}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** An engine that answers with the requested model's name. */
async function startEngine(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => {
      const { model } = JSON.parse(text || "{}") as { model?: string };
      const choices = [{ index: 0, message: { role: "assistant", content: model }, finish_reason: "stop" }];
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "1", object: "chat.completion", choices }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function putConfig(url: string): Promise<void> {
  const policy: PolicyDocument = { kind: "fixed", model: "small", order: { kind: "fcfs" }, place: { kind: "least-load" } };
  const replicas = ["small", "large"].map((model) => ({ id: model, model, url, state: "active", maxInFlight: 8 }));
  const parts = { apiVersion: "weir/v1", kind: "GatewayConfig", name: "test", planId: "plan", judge: null, timeScale: 1 };
  const answer = await fetch(`http://127.0.0.1:${ports.admin}/config`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": "none", authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...parts, policy, policyHash: policyHash(policy), replicas }),
  });
  expect(answer.status).toBe(200);
}

async function answeredBy(model: string): Promise<string | null> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "x" }] });
  const answer = await fetch(`http://127.0.0.1:${ports.data}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return answer.headers.get("x-weir-model");
}

test("weir panic sends everything to a model with no studio there, through a restart of the gateway, until it is cleared", async () => {
  const weir = weirIn(folder);
  const engine = await startEngine();
  const gateway = await startGateway();
  await putConfig(engine.url);
  expect(await weir("panic")).toMatchObject({ code: 0, stdout: "There is no panic: requests follow the plan in force.\n" });
  expect(await answeredBy("cascade/default")).toBe("small");
  const declared = await weir("panic", "large", "--reason", "small writes nonsense");
  expect(declared).toMatchObject({ code: 0, stderr: "" });
  expect(declared.stdout).toMatch(/^Every request for text goes to large since .*: small writes nonsense\n$/);
  expect(declared.stdout).toContain(`by ${userInfo().username}`);
  expect([await answeredBy("cascade/default"), await answeredBy("nobody-serves-this")]).toEqual(["large", "large"]);
  const ended = once(gateway, "exit");
  gateway.kill("SIGKILL");
  await ended;
  await startGateway();
  expect(await answeredBy("small")).toBe("large");
  expect((await weir("panic")).stdout).toBe(declared.stdout);
  expect(await weir("panic", "--clear")).toMatchObject({ code: 0, stdout: "There is no panic: requests follow the plan in force.\n" });
  expect(await answeredBy("cascade/default")).toBe("small");
  engine.close();
}, 90_000);

test("weir panic says it as JSON too, and warns where no engine of its model answers", async () => {
  const weir = weirIn(folder);
  const engine = await startEngine();
  await startGateway();
  await putConfig(engine.url);
  expect(await weir("panic", "--json")).toMatchObject({ code: 0, stdout: "null\n" });
  const declared = await weir("panic", "large", "--reason", "\u001b[2J small writes\nnonsense", "--json");
  expect(JSON.parse(declared.stdout)).toMatchObject({
    model: "large",
    by: userInfo().username,
    reason: "\u001b[2J small writes\nnonsense",
  });
  expect(declared.stderr).toBe("");
  expect((await weir("panic")).stdout).toMatch(/: {2}\[2J small writes nonsense\n$/);
  engine.close();
  void answeredBy("large").catch(() => null);
  let warned = await weir("panic");
  while (warned.stderr === "") warned = await weir("panic");
  expect([warned.code, warned.stderr]).toEqual([
    0,
    "No engine of large answers at the moment, so requests are refused until one does or the panic goes to another model.\n",
  ]);
  expect(JSON.parse((await weir("panic", "--json")).stdout)).toHaveProperty("warning");
  expect(JSON.parse((await weir("panic", "--clear", "--json")).stdout)).toBe(null);
}, 90_000);

test("weir panic says in a sentence why nothing was done", async () => {
  const weir = weirIn(folder);
  const gone = await weir("panic", "large", "--reason", "x");
  expect([gone.code, gone.stdout]).toEqual([1, ""]);
  expect(gone.stderr).toContain(`The gateway at http://127.0.0.1:${ports.admin} cannot be reached`);
  expect(await weir("panic", "large")).toMatchObject({ code: 2, stderr: expect.stringContaining("Give a reason with --reason") });
  expect(await weir("panic", "large", "--clear")).toMatchObject({ code: 2, stderr: "Give a model or --clear, not both.\n" });
  const engine = await startEngine();
  await startGateway();
  await putConfig(engine.url);
  const mistyped = await weir("panic", "lagre", "--reason", "x");
  expect([mistyped.code, mistyped.stderr]).toEqual([
    1,
    'The gateway answered 409: No engine of "lagre" takes new work; there are engines of small, large.\n',
  ]);
  expect(await weir("panic", "--clear")).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no panic to clear.") });
  writeFileSync(join(folder, "state", "admin-token"), "another\n");
  expect(await weir("panic")).toMatchObject({ code: 1, stderr: expect.stringContaining("needs the bearer token") });
  engine.close();
}, 90_000);

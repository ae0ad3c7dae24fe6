import diagnostics from "node:diagnostics_channel";
import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import { askEndpoint } from "@/server/engineClient/askEndpoint";
import { queryMatrix } from "@/server/series/prometheusClient";
import { scrape } from "@/server/telemetry/scrape";

/** Addresses to which a connection was begun. */
const attempts: string[] = [];
const record = (message: unknown): void => {
  (message as { readonly socket: Socket }).socket.on("connectionAttempt", (ip: string) => attempts.push(ip));
};

/** The answers of the resolver, by name; a list is answered one by one. */
let names: Record<string, string[]>;

beforeEach(() => {
  attempts.length = 0;
  names = {};
  diagnostics.subscribe("net.client.socket", record);
  const lookup = dns.lookup;
  const answer = (name: string, options: { readonly all?: boolean }, callback: (...found: unknown[]) => void): void => {
    const known = names[name];
    if (known === undefined) return void lookup(name, options as dns.LookupAllOptions, callback);
    const address = (known.length > 1 ? known.shift() : known[0]) ?? "";
    const family = address.includes(":") ? 6 : 4;
    setImmediate(() => (options.all === true ? callback(null, [{ address, family }]) : callback(null, address, family)));
  };
  vi.spyOn(dns, "lookup").mockImplementation(answer as never);
});
afterEach(() => {
  diagnostics.unsubscribe("net.client.socket", record);
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const signal = () => AbortSignal.timeout(700);
const ask = (url: string) => askEndpoint({ target: { url }, path: "/v1/models", signal: signal() });
const refused = { kind: "no-access", error: { kind: "address", message: expect.stringContaining("WEIR_ALLOWED_ADDRESSES") } };

describe("a link-local address", () => {
  it.each(["http://169.254.77.77:8000", "http://2852015437:8000", "http://0xa9fe4d4d:8000", "http://[::ffff:169.254.77.77]:8000"])(
    "is not connected as %s",
    async (url) => {
      expect(await ask(url)).toMatchObject(refused);
      expect(attempts).toEqual([]);
    },
  );

  it("is not connected by a name that leads there", async () => {
    names = { "engine.example": ["169.254.77.77"], "six.example": ["fe80::1"], "mapped.example": ["::ffff:169.254.77.77"] };
    for (const name of Object.keys(names)) {
      expect(await ask(`http://${name}:8000`)).toMatchObject(refused);
      expect(await ask(`https://${name}:8000`)).toMatchObject(refused);
    }
    expect(attempts).toEqual([]);
  });

  it("is not connected by a name that led to loopback a moment before", async () => {
    const server = createServer((_, response) => void response.writeHead(200, { connection: "close" }).end("{}")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://rebinding.example:${(server.address() as AddressInfo).port}`;
    names = { "rebinding.example": ["127.0.0.1", "169.254.77.77"] };
    expect(await ask(url)).toMatchObject({ kind: "answered" });
    expect(await ask(url)).toMatchObject(refused);
    expect(attempts).toEqual(["127.0.0.1"]);
    server.close();
  });

  it("is not connected by telemetry, by the gateway's client or by charts either", async () => {
    names = { "engine.example": ["169.254.77.77"] };
    const url = "http://engine.example:8000";
    expect(await scrape(`${url}/metrics`, { timeoutMs: 700 })).toMatchObject({ ok: false });
    const admin = createAdminClient("gateway", url, "token");
    expect(await admin("/status", { schema: z.unknown(), limitMs: 700 })).toMatchObject({ failure: "unreachable" });
    const asked = { query: "up", startSeconds: 0, endSeconds: 1, stepSeconds: 1 };
    expect(await queryMatrix({ url, timeoutMs: 700 }, asked)).toMatchObject({ ok: false });
    expect(attempts).toEqual([]);
  });

  it("is connected once an operator names it", async () => {
    vi.stubEnv("WEIR_ALLOWED_ADDRESSES", "169.254.77.0/24");
    names = { "allowed.example": ["169.254.77.77"] };
    await ask("http://allowed.example:8000");
    expect(attempts).toEqual(["169.254.77.77"]);
  });
});

it("sends an order to a gateway nowhere else, whatever the gateway answers", async () => {
  const seen: string[] = [];
  const evil = createServer((request, response) => {
    seen.push(`${request.method}`);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(evil, "listening");
  const location = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/`;
  const gateway = createServer((_, response) => void response.writeHead(307, { location }).end()).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const admin = createAdminClient("gateway", `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`, "token");
  const answer = await admin("/config", { method: "PUT", body: { planId: "p" }, schema: z.unknown() });
  expect(answer).toMatchObject({ ok: false, message: expect.stringContaining("answered 307") });
  expect(seen).toEqual([]);
  for (const server of [evil, gateway]) server.close().closeAllConnections();
});

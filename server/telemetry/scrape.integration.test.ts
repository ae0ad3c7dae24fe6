import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { needs, program } from "@/scripts/needs.mjs";
import { testCertificates } from "@/server/contracts/testing/testCertificates";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import { MAX_SCRAPE_BYTES, scrape } from "./scrape";

const certificates = testCertificates();

const servers: Pick<Server, "close" | "closeAllConnections">[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("scrape", () => {
  it("gives the text, and sends the bearer token where there is one", async () => {
    const url = await serve((request, response) => void response.end(`token ${request.headers.authorization ?? "none"}`));
    expect(await scrape(url, { timeoutMs: 1000 })).toEqual({ ok: true, text: "token none" });
    expect(await scrape(url, { timeoutMs: 1000, bearer: "t" })).toEqual({ ok: true, text: "token Bearer t" });
  });

  it("says which status it got instead of 200", async () => {
    const url = await serve((_, response) => void response.writeHead(503).end("loading"));
    expect(await scrape(url, { timeoutMs: 1000 })).toEqual({ ok: false, kind: "status", reason: `${url} answered 503` });
  });

  it("gives up on a target that begins to answer and then hangs", async () => {
    const url = await serve((_, response) => void response.write("half"));
    expect(await scrape(url, { timeoutMs: 100 })).toEqual({ ok: false, kind: "timeout", reason: `${url} did not answer within 100 ms` });
  });

  it("stops reading a target that sends without end", async () => {
    const chunk = Buffer.alloc(1_000_000, "x");
    const url = await serve((_, response) => {
      const push = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once("drain", push);
      };
      push();
    });
    const result = await scrape(url, { timeoutMs: 10_000 });
    expect(result).toEqual({ ok: false, kind: "too-large", reason: `${url} sent more than ${MAX_SCRAPE_BYTES} bytes` });
  });

  it("lets itself in with a target's own key, and asks nothing without the key that it is to have", async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      response.writeHead(request.headers.authorization === "Bearer sk-a" ? 200 : 401).end("up 1\n");
    });
    vi.stubEnv("WEIR_ENGINE_SCRAPED", "sk-a");
    onTestFinished(enterTestKeys([{ key: { environment: "WEIR_ENGINE_SCRAPED" }, url }]));
    const ask = (environment: string) => scrape(url, { timeoutMs: 1000, access: { key: { environment } } });
    expect(await ask("WEIR_ENGINE_SCRAPED")).toEqual({ ok: true, text: "up 1\n" });
    expect(await ask("WEIR_ENGINE_NOT_SET")).toEqual({
      ok: false,
      kind: "access",
      reason: "The key's variable WEIR_ENGINE_NOT_SET is not set",
    });
    expect(await scrape(url, { timeoutMs: 1000 })).toMatchObject({ kind: "status" });
    expect(asked).toBe(2);
    vi.unstubAllEnvs();
  });

  it("holds a target's certificate against its own authority", needs(program("openssl")), async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-secrets-"));
    vi.stubEnv("WEIR_SECRETS_DIR", folder);
    writeFileSync(join(folder, "ca.pem"), certificates!.ca);
    const server = createTlsServer({ ...certificates!.good }, (_, response) => void response.end("up 1\n"));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
    expect(await scrape(url, { timeoutMs: 1000, access: { caFile: "ca.pem" } })).toEqual({ ok: true, text: "up 1\n" });
    expect(await scrape(url, { timeoutMs: 1000 })).toMatchObject({ kind: "unreachable" });
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  it("says that nobody listens", async () => {
    const result = await scrape("http://127.0.0.1:9/metrics", { timeoutMs: 1000 });
    expect(result).toEqual({ ok: false, kind: "unreachable", reason: "http://127.0.0.1:9/metrics cannot be reached: ECONNREFUSED" });
  });
});

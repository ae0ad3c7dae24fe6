import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { condition, needs, program } from "@/scripts/needs.mjs";
import { testCertificates } from "@/server/contracts/testing/testCertificates";
import { createTlsServer } from "@/server/lib/tlsServer";
import { frontSettings } from "./frontSettings";
import { type RefusedRequest, studioListener } from "./studioListener";

interface Sent {
  readonly over?: "http" | "https";
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What the handler behind the front was given; null: nothing. */
  readonly passed: IncomingHttpHeaders | null;
}

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

/** What the last front refused. */
const refused: RefusedRequest[] = [];

/** The front with these settings, on a free port, before a handler that answers what it was given. */
async function front(environment: Readonly<Record<string, string>> = {}, handle?: RequestListener, address = "127.0.0.1") {
  const settings = frontSettings({ WEIR_STUDIO_HOSTS: "127.0.0.1", ...environment });
  let passed: IncomingHttpHeaders | null = null;
  refused.length = 0;
  const listener = studioListener({
    ...settings,
    onRefused: (one) => refused.push(one),
    handle(request, response) {
      passed = { ...request.headers };
      if (handle === undefined) response.end("answer");
      else handle(request, response);
    },
  });
  const server = settings.tls === null ? createServer() : createTlsServer({ files: settings.tls, onProblem: () => undefined });
  server.on("request", listener);
  open.push(server);
  await new Promise<void>((listening) => server.listen(0, address, listening));
  const { port } = server.address() as AddressInfo;
  return ({ over = "http", method = "GET", path = "/plan", headers = {} }: Sent = {}): Promise<Heard> =>
    new Promise((resolve, reject) => {
      passed = null;
      const options = { host: address, port, method, path, headers, rejectUnauthorized: false, agent: false as const };
      const sent = over === "https" ? httpsRequest(options) : httpRequest(options);
      sent.once("error", reject);
      sent.once("response", (response) => {
        response.resume();
        response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, passed }));
      });
      sent.end();
    });
}

/** An address of this machine that is not its loopback. */
const outer = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

describe("the studio's front", () => {
  it(
    "answers a launcher's health check on another address than loopback, and nothing else in plain text",
    needs(condition("an address besides loopback", outer !== undefined)),
    async () => {
      const own = outer ?? "";
      const ask = await front({ WEIR_STUDIO_ADDRESS: own, WEIR_STUDIO_HOSTS: own, WEIR_TRUSTED_PROXIES: "192.0.2.1" }, undefined, own);
      expect((await ask({ path: "/api/health" })).status).toBe(200);
      expect((await ask({ path: "/plan" })).status).toBe(403);
    },
  );

  it("hands nothing on from a page whose name was made to point to this machine", async () => {
    const ask = await front();
    for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
      const heard = await ask({ method, path: "/api/trpc/session.me", headers: { host: "rebound.example:4600" } });
      expect([heard.status, heard.passed]).toEqual([421, null]);
    }
  });

  it("hands no HEAD on to the sign-in link, no form's POST to a procedure, and nothing of another port of this host", async () => {
    const ask = await front();
    const statuses = [
      await ask({ method: "HEAD", path: "/api/sign-in?token=x" }),
      await ask({ method: "POST", path: "/api/trpc/plans.approve", headers: { "content-type": "text/plain" } }),
      await ask({ path: "/api/trpc/plans.list", headers: { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" } }),
    ];
    expect(statuses.map(({ status, passed }) => [status, passed])).toEqual([
      [405, null],
      [415, null],
      [403, null],
    ]);
    expect(refused.map(({ address, request }) => `${address} ${request}`)).toEqual([
      "127.0.0.1 HEAD /api/sign-in",
      "127.0.0.1 POST /api/trpc/plans.approve",
      "127.0.0.1 GET /api/trpc/plans.list",
    ]);
  });

  it("puts the headers on every answer, refusals included, with a nonce of its own that the handler is given", async () => {
    const ask = await front();
    const answers = [await ask(), await ask(), await ask({ method: "PUT" })];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": expect.stringContaining("camera=()"),
        "content-security-policy": expect.stringMatching(
          /script-src 'nonce-[A-Za-z0-9+/]{22}==' 'strict-dynamic';.*frame-ancestors 'none'/,
        ),
      });
      expect(headers["strict-transport-security"]).toBeUndefined();
      expect(headers["content-security-policy"]).not.toMatch(/script-src[^;]*unsafe/);
    }
    expect(answers[0]?.passed?.["content-security-policy"]).toBe(answers[0]?.headers["content-security-policy"]);
    expect(new Set(answers.map(({ headers }) => headers["content-security-policy"])).size).toBe(3);
  });

  it("leaves a header that the route sets itself, in whatever way it does", async () => {
    const ways: readonly RequestListener[] = [
      (_, response) => response.setHeader("Referrer-Policy", "no-referrer").end(),
      (_, response) => response.writeHead(200, { "Referrer-Policy": "no-referrer" }).end(),
      (_, response) => response.writeHead(200, "OK", { "referrer-policy": "no-referrer" }).end(),
    ];
    for (const handle of ways) {
      const { headers } = await (await front({}, handle))();
      expect([headers["referrer-policy"], headers["x-content-type-options"]]).toEqual(["no-referrer", "nosniff"]);
    }
  });

  it("removes what a sender writes in the names of a proxy or of the front", async () => {
    const claims = {
      "x-forwarded-for": "198.51.100.7",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-port": "1",
      "x-weir-client-address": "198.51.100.7",
      "x-weir-secure": "1",
      "x-real-ip": "198.51.100.7",
      forwarded: "for=198.51.100.7;proto=https",
      "content-security-policy": "script-src 'nonce-mine'",
      "content-security-policy-report-only": "script-src 'nonce-mine'",
    };
    const { passed, headers } = await (await front())({ headers: claims });
    expect(passed).toMatchObject({ "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http", "x-weir-client-address": "127.0.0.1" });
    expect(JSON.stringify(passed)).not.toMatch(/198\.51|evil|mine|x-weir-secure|x-real-ip|"forwarded"|x-forwarded-port/);
    expect(headers["strict-transport-security"]).toBeUndefined();
  });

  it("believes a trusted proxy, and of what the proxy passes on only its own part", async () => {
    const ask = await front({ WEIR_TRUSTED_PROXIES: "127.0.0.1", WEIR_STUDIO_URL: "https://weir.example.com" });
    const headers = {
      "x-forwarded-for": "1.2.3.4, 198.51.100.7",
      "x-forwarded-host": "evil.example, weir.example.com",
      "x-forwarded-proto": "http, https",
      cookie: "weir_session=planted; __Host-weir_session=own",
    };
    const heard = await ask({ headers });
    expect(heard.passed).toMatchObject({
      host: "weir.example.com",
      "x-weir-client-address": "198.51.100.7",
      "x-weir-secure": "1",
      cookie: "__Host-weir_session=own",
    });
    expect(heard.headers["strict-transport-security"]).toBe("max-age=31536000");
    expect((await ask({ headers: { ...headers, "x-forwarded-host": "evil.example" } })).status).toBe(421);
  });

  it("does not let two requests of one client look like two clients", async () => {
    const ask = await front();
    const addresses = [await ask({ headers: { "x-forwarded-for": "1.1.1.1" } }), await ask({ headers: { "x-forwarded-for": "2.2.2.2" } })];
    expect(addresses.map(({ passed }) => passed?.["x-weir-client-address"])).toEqual(["127.0.0.1", "127.0.0.1"]);
  });
});

const certificates = testCertificates();
describe("the studio's front with a certificate", needs(program("openssl")), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-front-"));
  const tls = { WEIR_TLS_CERT_FILE: join(folder, "c.pem"), WEIR_TLS_KEY_FILE: join(folder, "k.pem") };
  writeFileSync(tls.WEIR_TLS_CERT_FILE, certificates?.good.cert ?? "");
  writeFileSync(tls.WEIR_TLS_KEY_FILE, certificates?.good.key ?? "", { mode: 0o600 });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("marks the connection as encrypted and asks browsers to keep to TLS", async () => {
    const heard = await (await front(tls))({ over: "https", headers: { cookie: "weir_session=planted; theme=dark" } });
    expect(heard.headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(heard.passed).toMatchObject({ "x-weir-secure": "1", "x-forwarded-proto": "https", cookie: "theme=dark" });
  });

  it("redirects plain HTTP to TLS, hands none of it on, and answers the launcher's health check", async () => {
    const ask = await front(tls);
    const page = await ask({ path: "/plan?a=1", headers: { host: "127.0.0.1" } });
    expect([page.status, page.headers.location, page.passed]).toEqual([308, "https://127.0.0.1/plan?a=1", null]);
    const call = await ask({ method: "POST", path: "/api/trpc/plans.approve", headers: { "content-type": "application/json" } });
    expect([call.status, call.passed]).toEqual([403, null]);
    expect((await ask({ path: "/api/health" })).status).toBe(200);
    expect((await ask({ headers: { host: "evil.example" } })).status).toBe(421);
  });
});

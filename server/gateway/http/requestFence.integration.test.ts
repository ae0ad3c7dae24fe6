import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway } from "../testing/testGateway";

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request whose headers, also `host`, are as given. */
function send({ method, url, headers, body }: Sent): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += String(chunk);
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject).end(body);
  });
}

const codeOf = (text: string): string => (text === "" ? "" : (JSON.parse(text) as { error: { code: string } }).error.code);
const chat = JSON.stringify({ model: "large", messages: [{ role: "user", content: "?" }] });
const panic = JSON.stringify({ model: "large", by: "eve", reason: "" });
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

async function gatewayOf(...given: Parameters<typeof startTestGateway>) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway(...given);
  await gateway.put(oneModel([engine.url]));
  const panicModel = async () => ((await (await fetch(`${gateway.adminUrl}/panic`)).json()) as { model?: string } | null)?.model;
  return { ...gateway, engine, panicModel };
}

describe("a page whose name was rebound to the gateway's address", () => {
  it.each(["data", "admin"] as const)("reads and changes nothing at the %s port, by no method and no path", async (port) => {
    const gateway = await gatewayOf();
    const url = port === "data" ? gateway.dataUrl : gateway.adminUrl;
    const paths =
      port === "data"
        ? ["/v1/models", "/v1/chat/completions", "/health", "/version", "/x"]
        : ["/config", "/panic", "/status", "/metrics", "/health", "/x"];
    const headers = { host: "evil.example:4610", origin: "http://evil.example:4610", "content-type": "application/json" };
    for (const method of methods) {
      for (const path of paths) {
        const body = ["POST", "PUT", "PATCH"].includes(method) ? (port === "data" ? chat : panic) : "";
        const { status, text } = await send({ method, url: url + path, headers, body });
        expect([method, path, status, codeOf(text)]).toEqual([method, path, 421, method === "HEAD" ? "" : "unknown_host"]);
      }
    }
    expect(gateway.engine.asked).toEqual([]);
    expect(await gateway.panicModel()).toBeUndefined();
  });

  it("is no page where the operator has named the host", async () => {
    const gateway = await gatewayOf({}, { hosts: new Set(["llm.example.com"]) });
    for (const url of [`${gateway.dataUrl}/v1/models`, `${gateway.adminUrl}/config`])
      expect((await send({ method: "GET", url, headers: { host: "llm.example.com" } })).status).toBe(200);
  });
});

describe("a page of another origin", () => {
  const foreign = [
    { origin: "https://evil.example" },
    { origin: "http://127.0.0.1:3000" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];

  it.each(foreign)("with %o reads and changes nothing, by no method", async (marks) => {
    const gateway = await gatewayOf();
    for (const method of methods) {
      for (const [url, sent] of [
        [`${gateway.dataUrl}/v1/chat/completions`, chat],
        [`${gateway.adminUrl}/panic`, panic],
      ] as const) {
        const body = ["POST", "PUT", "PATCH"].includes(method) ? sent : "";
        const { status, text } = await send({ method, url, headers: { ...marks, "content-type": "application/json" }, body });
        expect([method, status, codeOf(text)]).toEqual([method, 403, method === "HEAD" ? "" : "other_origin"]);
      }
    }
    expect(gateway.engine.asked).toEqual([]);
    expect(await gateway.panicModel()).toBeUndefined();
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "sends no body of the type %j, even one that says nothing of its origin",
    async (type) => {
      const gateway = await gatewayOf();
      const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
      for (const [method, url, body] of [
        ["POST", `${gateway.dataUrl}/v1/chat/completions`, chat],
        ["PUT", `${gateway.adminUrl}/panic`, panic],
      ] as const) {
        const { status, text } = await send({ method, url, headers, body });
        expect([status, codeOf(text)]).toEqual([415, "unsupported_media_type"]);
      }
      expect(gateway.engine.asked).toEqual([]);
      expect(await gateway.panicModel()).toBeUndefined();
    },
  );
});

describe("a client that is no browser", () => {
  it("may leave the host out, as HTTP/1.0 does, and name the address or localhost", async () => {
    const gateway = await gatewayOf();
    const { port } = new URL(gateway.dataUrl);
    const old = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1").on("data", (chunk) => resolve(String(chunk)));
      socket.end("GET /health HTTP/1.0\r\n\r\n");
    });
    expect(old).toMatch(/^HTTP\/1\.1 200 /);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "10.1.2.3"])
      expect((await send({ method: "GET", url: `${gateway.dataUrl}/v1/models`, headers: { host } })).status).toBe(200);
  });
});

import { request as httpRequest, type IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startTestEngine } from "./testing/testEngine";
import { oneModel, startTestGateway } from "./testing/testGateway";

/** GETs the `target` of the request line, in any form that a client or a proxy may send. */
async function get(dataUrl: string, target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(dataUrl);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ hostname, port, path: target }, resolve).on("error", reject).end();
  });
  response.resume();
  return response.statusCode;
}

describe("the data port", () => {
  it("takes a request's target with scheme and host as proxies write it", async () => {
    const engine = await startTestEngine(() => undefined);
    const { put, dataUrl } = await startTestGateway();
    await put(oneModel([engine.url]));
    const targets = ["http://weir.example/v1/models", "http://weir.example/v1/models/large?x=1", "http://weir.example/v1/nothing", "*"];
    expect(await Promise.all(targets.map((target) => get(dataUrl, target)))).toEqual([200, 200, 404, 404]);
  });

  it("ends one connection, not the process, where an answer and the error in its place both fail", async () => {
    const { dataUrl } = await startTestGateway();
    const { writeHead } = ServerResponse.prototype;
    const failing = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (this: ServerResponse, ...head: unknown[]) {
      if (this.req.url === "/v1/models") throw new TypeError("Invalid character in header content");
      return Reflect.apply(writeHead, this, head);
    });
    onTestFinished(() => failing.mockRestore());
    await expect(fetch(`${dataUrl}/v1/models`)).rejects.toThrow("fetch failed");
    expect((await fetch(`${dataUrl}/health`)).status).toBe(200);
  });

  it.each([
    ["GET", "/v1/nothing", 404],
    ["GET", "/v1/chat/completions", 405],
    ["POST", "/v1/models", 405],
    ["POST", "/v1/responses", 400],
  ])("gives its answer to %s %s the client's id, or one of its own", async (method, path, status) => {
    const { dataUrl } = await startTestGateway();
    const answer = await fetch(`${dataUrl}${path}`, { method, headers: { "x-request-id": "mine-1" } });
    expect([answer.status, answer.headers.get("x-request-id")]).toEqual([status, "mine-1"]);
    const other = await fetch(`${dataUrl}${path}`, { method });
    expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { afterEach, expect, test } from "vitest";
import { streamAnswer } from "./streamAnswer";

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function answered(listener: RequestListener, signal = new AbortController().signal) {
  const own = createServer(listener);
  server = own;
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}/v1/completions`;
  return streamAnswer({ url, body: "{}", agent: new Agent(), signal });
}

const refusing = (status: number, body: string) => answered((_request, response) => response.writeHead(status).end(body));

test("of a failed answer only the API's own error message is shown, without keys", async () => {
  const secret = "sk-abcdefghijklmnop";
  expect(await refusing(401, JSON.stringify({ error: { message: `The key ${secret} is wrong`, param: "private" } }))).toEqual({
    kind: "failed",
    message: "status 401: The key *** is wrong",
  });
  expect(await refusing(400, '{"error":"too long"}')).toEqual({ kind: "failed", message: "status 400: too long" });
});

test("of a failed answer that is no error of the API nothing but the status is shown", async () => {
  for (const body of ["<h1>internal: db.example.com</h1>", '{"password":"hunter2hunter2"}', "", `{"error":"${"x".repeat(100_000)}"}`])
    expect(await refusing(500, body)).toEqual({ kind: "failed", message: "status 500" });
});

test("a signal that fires is a stop, no failure", async () => {
  const stop = new AbortController();
  const asked = answered(() => setTimeout(() => stop.abort(), 20), stop.signal);
  expect(await asked).toEqual({ kind: "stopped" });
});

import { once } from "node:events";
import { connect } from "node:net";
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, startTestGateway } from "../testing/testGateway";

const json = { "content-type": "application/json" };
const errorOf = async (answer: Response) => ((await answer.json()) as { error: Record<string, unknown> }).error;

async function gatewayOf(...limits: Parameters<typeof startTestGateway>) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
  const gateway = await startTestGateway(...limits);
  await gateway.put(oneModel([engine.url]));
  const send = (body: string | Buffer, headers: Record<string, string> = {}, path = "/v1/chat/completions") =>
    fetch(`${gateway.dataUrl}${path}`, { method: "POST", headers: { ...json, ...headers }, body: new Uint8Array(Buffer.from(body)) });
  return { ...gateway, engine, send };
}

/** The longest time, in milliseconds, in which the event loop of gateway and test did nothing else while `work` ran. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let lastMs = performance.now();
  const look = (): void => {
    const nowMs = performance.now();
    longest = Math.max(longest, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(look, 1);
  await work();
  look();
  clearInterval(timer);
  return longest;
}

/** The least of three measurements: a busy machine makes each longer, never shorter. */
async function leastOf(measure: () => Promise<number> | number): Promise<number> {
  return Math.min(await measure(), await measure(), await measure());
}

function parseMs(body: string): number {
  const startMs = performance.now();
  JSON.parse(body);
  return performance.now() - startMs;
}

const inMessage = (content: string): string => `{"model":"large","messages":[{"role":"user","content":${content}}]}`;
const nested = (bytes: number): string => inMessage("[".repeat(bytes / 2) + "]".repeat(bytes / 2));

describe("a body that would hold up its parser", () => {
  it.each([
    ["7.8 MB of lists inside one another", nested(7_800_000), 400, "json_too_deep"],
    ["7.8 MB of lists beside one another", inMessage(`[${"[],".repeat(2_600_000)}1]`), 413, "json_too_large"],
    ["7.8 MB of members", inMessage(`{${Array.from({ length: 600_000 }, (_, at) => `"k${at}":1`).join()}}`), 413, "json_too_large"],
  ])("of %s is refused in a sentence while others are served", async (_, body, status, code) => {
    const { send } = await gatewayOf();
    let refused: Response | undefined;
    const stallMs = await leastOf(() =>
      longestStall(async () => {
        refused = await send(body);
      }),
    );
    expect(refused?.status).toBe(status);
    if (refused)
      expect(await errorOf(refused)).toMatchObject({
        type: "invalid_request_error",
        code,
        message: expect.stringMatching(/^The body .*limit here\.$/),
      });
    expect(stallMs).toBeLessThan((await leastOf(() => parseMs(body))) / 3);
  });

  it("is refused on the admin port too", async () => {
    const gateway = await startTestGateway();
    const answer = await fetch(`${gateway.adminUrl}/config/validate`, { method: "POST", headers: json, body: nested(100_000) });
    expect([answer.status, (await errorOf(answer)).code]).toEqual([400, "json_too_deep"]);
  });

  it("is taken up to the limits, and brackets in a text do not count", async () => {
    const { send, engine } = await gatewayOf();
    const deepest = inMessage("[".repeat(125) + "]".repeat(125));
    expect((await send(deepest)).status).toBe(200);
    expect((await send(inMessage("[".repeat(126) + "]".repeat(126)))).status).toBe(400);
    const text = `${'[{"'.repeat(100_000)}\\`;
    expect((await send(inMessage(JSON.stringify(text)))).status).toBe(200);
    expect(engine.asked.at(-1)?.body).toMatchObject({ messages: [{ content: text }] });
  });
});

describe("a long body", () => {
  it("is parsed outside the event loop, and reaches the engine as it was", async () => {
    const { send, engine } = await gatewayOf();
    const text = 'é漢 \\ " '.repeat(300_000);
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const answer = await send(inMessage(JSON.stringify(text)));
    const inGateway = parse.mock.calls.filter(([given], at) => given.length > 1_000_000 && !isEngine(parse.mock.results[at]?.value));
    parse.mockRestore();
    expect(answer.status).toBe(200);
    expect(inGateway).toHaveLength(0);
    expect(engine.asked.at(-1)?.body).toMatchObject({ messages: [{ content: text }] });
    function isEngine(value: unknown): boolean {
      return engine.asked.some(({ body }) => body === value);
    }
  });

  it("of a million tokens as numbers is taken", async () => {
    const { send, engine } = await gatewayOf();
    const prompt = Array.from({ length: 1_000_000 }, (_, at) => at % 1000);
    const answer = await send(JSON.stringify({ model: "large", prompt }), {}, "/v1/completions");
    expect(answer.status).toBe(200);
    expect(engine.asked.at(-1)?.body.prompt).toHaveLength(1_000_000);
  });

  it("that is no JSON is refused as that", async () => {
    const { send } = await gatewayOf();
    const answer = await send(`${inMessage(JSON.stringify("x".repeat(2_000_000)))}}`);
    expect([answer.status, (await errorOf(answer)).code]).toEqual([400, "invalid_json"]);
  });
});

describe("a compressed body", () => {
  const question = inMessage('"What is 2 + 2?"');
  const bomb = Buffer.from(inMessage(JSON.stringify("a".repeat(200_000_000))));

  it.each([
    ["gzip", gzipSync(question)],
    ["x-gzip", gzipSync(question)],
    ["deflate", deflateSync(question)],
    ["identity", Buffer.from(question)],
    ["GZIP", gzipSync(inMessage(JSON.stringify("Where does the water go? ".repeat(9_000))))],
  ])("as %s is read", async (encoding, body) => {
    const { send } = await gatewayOf();
    expect((await send(body, { "content-encoding": encoding })).status).toBe(200);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ])("that is a bomb of %s is refused before it has done its work", async (encoding, compress) => {
    const { send } = await gatewayOf();
    const body = compress(bomb);
    const startMs = performance.now();
    const answer = await send(body, { "content-encoding": encoding });
    const refusedMs = performance.now() - startMs;
    expect([answer.status, await errorOf(answer)]).toMatchObject([
      413,
      { code: "body_too_large", message: "The body decompresses to more than 100 times its size." },
    ]);
    const packed = gzipSync(bomb);
    const wholeMs = await leastOf(() => {
      const fromMs = performance.now();
      gunzipSync(packed);
      return performance.now() - fromMs;
    });
    expect(refusedMs).toBeLessThan(wholeMs / 2);
  });

  it("that stays below the ratio is refused at the size of a body, decompressed", async () => {
    const { send } = await gatewayOf({ bodyBytes: 100_000 });
    const answer = await send(gzipSync(inMessage(JSON.stringify("Where does the water go? ".repeat(10_000)))), {
      "content-encoding": "gzip",
    });
    expect([answer.status, (await errorOf(answer)).message]).toEqual([413, "The body is longer than 100000 bytes, the limit here."]);
  });

  it("that is nested deep in the document is refused like any other", async () => {
    const { send } = await gatewayOf();
    const answer = await send(gzipSync(nested(1_000_000)), { "content-encoding": "gzip" });
    expect([answer.status, (await errorOf(answer)).code]).toEqual([400, "json_too_deep"]);
  });

  it.each([
    ["is cut short", gzipSync(question).subarray(0, 40), "gzip", [400, "invalid_encoding"]],
    ["is not compressed", Buffer.from(question), "gzip", [400, "invalid_encoding"]],
    ["is compressed otherwise", gzipSync(question), "deflate", [400, "invalid_encoding"]],
    ["is of an encoding that is not read", brotliCompressSync(question), "br", [415, "unsupported_encoding"]],
    ["is compressed twice", gzipSync(gzipSync(question)), "gzip, gzip", [415, "unsupported_encoding"]],
  ] as const)("that %s is refused as that", async (_, body, encoding, refusal) => {
    const { send, engine } = await gatewayOf();
    const answer = await send(body, { "content-encoding": encoding });
    expect([answer.status, (await errorOf(answer)).code]).toEqual(refusal);
    expect(engine.asked).toEqual([]);
  });
});

describe("a body that goes on after its refusal", () => {
  it.each([
    ["of a said length", (bytes: number) => `content-length: ${bytes}`, 413],
    ["of an unsaid length", () => "transfer-encoding: chunked", 400],
  ])("%s is read no further than a body may be long", async (_, length, status) => {
    const { dataUrl } = await gatewayOf();
    const bytes = 100_000_000;
    const socket = connect(Number(new URL(dataUrl).port), "127.0.0.1");
    let text = "";
    socket
      .on("error", () => undefined)
      .on("data", (chunk) => {
        text += String(chunk);
      });
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${length(bytes)}\r\n\r\n`);
    const piece = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "["), Buffer.from("\r\n")]);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    let sent = 0;
    while (sent < bytes && !socket.destroyed) {
      sent += piece.length;
      if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
    }
    await closed;
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    // Besides what the gateway reads, the system's buffers hold some.
    expect(sent).toBeLessThan(40_000_000);
  });

  it("need not be sent by a client that asks first", async () => {
    const { dataUrl } = await gatewayOf();
    const socket = connect(Number(new URL(dataUrl).port), "127.0.0.1");
    socket.write(
      "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 100000000\r\n\r\n",
    );
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
});

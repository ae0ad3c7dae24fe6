import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type LoadOptions, startLoad } from "./driver";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function server(answer: (request: IncomingMessage, text: string, response: ServerResponse) => void): Promise<string> {
  const started = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => answer(request, text, response));
  });
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    started.closeAllConnections();
    return new Promise((resolve) => started.close(resolve));
  });
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

const outcomes: OutcomeTable = {
  promptIds: ["p0", "p1"],
  categories: ["a", "a"],
  inputTokens: Int32Array.of(20, 200),
  models: [
    { model: "small", tableName: "S", outputTokens: Int32Array.of(1, 1), label: Float64Array.of(0, 100), judged: Float64Array.of(0, 0) },
  ],
};

function load(gatewayUrl: string, requests: number, other: Partial<LoadOptions> = {}): LoadOptions {
  return {
    id: "run",
    gatewayUrl,
    model: "cascade/test",
    timeScale: 10,
    workloadName: "two prompts",
    requestsPerSecond: 10,
    seconds: 1000,
    sample: {
      arrivalSeconds: Float64Array.from({ length: requests }, (_, index) => index * 0.1),
      prompt: Int32Array.from({ length: requests }, (_, index) => index % 2),
    },
    outcomes,
    labelled: true,
    ...other,
  };
}

let answered = 0;
function answer(response: ServerResponse): void {
  answered += 1;
  response.writeHead(200, { "x-weir-model": "small", "x-weir-decision-id": `decision-${answered}` }).end("{}");
}

describe("startLoad", () => {
  it("sends every prompt by its id and length and reports latency in engine seconds and quality by label", async () => {
    const bodies: string[] = [];
    const url = await server((_, text, response) => {
      bodies.push((JSON.parse(text) as { messages: { content: string }[] }).messages[0]?.content ?? "");
      setTimeout(() => answer(response), 20);
    });
    const labels = new Map<string, number>();
    const status = await startLoad(load(url, 20, { onLabel: (decisionId, label) => labels.set(decisionId, label) })).done;
    expect(status).toMatchObject({ state: "done", sent: 20, finished: 20, failed: 0, quality: 50, error: null });
    expect([...labels.values()].sort((a, b) => a - b)).toEqual([...Array(10).fill(0), ...Array(10).fill(100)]);
    expect(status.p50Seconds).toBeGreaterThan(0.15);
    expect(status.p95Seconds).toBeLessThan(5);
    expect(bodies.filter((text) => text.startsWith("[prompt p1] "))).toHaveLength(10);
    expect(bodies.find((text) => text.startsWith("[prompt p1] "))).toHaveLength(800);
  });

  it("sends the real requests where it has them, and takes quality from what was answered, not from the table", async () => {
    const bodies: { model: string; messages: { content: string }[]; max_tokens?: number }[] = [];
    const url = await server((_, text, response) => {
      bodies.push(JSON.parse(text));
      const content = bodies.length <= 5 ? "12" : "11";
      response.writeHead(200, { "x-weir-model": "small", "x-weir-decision-id": `d${bodies.length}` });
      response.end(JSON.stringify({ choices: [{ message: { content } }] }));
    });
    const labels: number[] = [];
    const requests = {
      body: (row: number) => (row === 1 ? null : { messages: [{ role: "user", content: "5+7" }], max_tokens: 4 }),
      qualityOf: (_: number, text: string) => (text === "12" ? 100 : 0),
    };
    const sample = { arrivalSeconds: Float64Array.from({ length: 10 }, (_, index) => index), prompt: new Int32Array(10) };
    const onLabel = (_: string, label: number) => void labels.push(label);
    const status = await startLoad(load(url, 10, { sample, labelled: false, requests, onLabel })).done;
    expect(bodies[0]).toEqual({ model: "cascade/test", messages: [{ role: "user", content: "5+7" }], max_tokens: 4 });
    expect(status).toMatchObject({ finished: 10, quality: 50 });
    expect(labels.sort()).toEqual([0, 0, 0, 0, 0, 100, 100, 100, 100, 100]);
    // A prompt whose text is gone is sent as filler, and its answer has no known quality.
    const gone = await startLoad(
      load(url, 2, { sample: { arrivalSeconds: Float64Array.of(0, 1), prompt: Int32Array.of(1, 1) }, labelled: false, requests }),
    ).done;
    expect(bodies.at(-1)?.messages[0]?.content).toMatch(/^\[prompt p1\] /);
    expect(gone.quality).toBeNull();
  });

  it("sends a router's scores of the prompt where the table carries them, else none", async () => {
    const said: unknown[] = [];
    const url = await server((request, _, response) => {
      said.push(request.headers["x-weir-router-scores"]);
      answer(response);
    });
    await startLoad(load(url, 2)).done;
    const [small] = outcomes.models;
    const read = ["small", "large"].map((model, at) => ({ ...small!, model, routerScore: Float64Array.of(10 + at, 70 + at) }));
    await startLoad(load(url, 2, { outcomes: { ...outcomes, models: read } })).done;
    expect(said.slice(0, 2)).toEqual([undefined, undefined]);
    expect(said.slice(2).sort()).toEqual(["small=10,large=11", "small=70,large=71"]);
  });

  it("sends on time whether or not earlier requests were answered", async () => {
    const waiting: ServerResponse[] = [];
    const url = await server((_, __, response) => {
      waiting.push(response);
      if (waiting.length === 20) waiting.forEach(answer);
    });
    const status = await startLoad(load(url, 20)).done;
    expect(status.finished).toBe(20);
  });

  it("says that it is the limit when too many requests are in flight, and counts the wait as latency", async () => {
    const url = await server((_, __, response) => setTimeout(() => answer(response), 100));
    const status = await startLoad(load(url, 10, { maxInFlight: 2 })).done;
    expect(status.finished).toBe(10);
    expect(status.notes?.join()).toContain("Driver-limited: 2 requests");
    expect(status.p95Seconds).toBeGreaterThan(2.5);
  });

  it("reports a driver that lags", async () => {
    const url = await server((_, __, response) => answer(response));
    const run = startLoad(load(url, 40));
    const until = performance.now() + 350;
    while (performance.now() < until);
    expect((await run.done).notes?.join()).toContain("The driver lagged");
  });

  it("counts refusals and names the commonest", async () => {
    let count = 0;
    const url = await server((_, __, response) => {
      count += 1;
      if (count % 2) answer(response);
      else response.writeHead(429).end('{"error":{"code":"queue_full"}}');
    });
    const status = await startLoad(load(url, 10)).done;
    expect(status).toMatchObject({ state: "done", finished: 5, failed: 5 });
    expect(status.notes?.join()).toContain("429 queue_full");
  });

  it("gives up with the reason when nothing answers", async () => {
    const status = await startLoad(load("http://127.0.0.1:9", 2000, { timeScale: 100 })).done;
    expect(status.state).toBe("failed");
    expect(status.error).toContain("ECONNREFUSED");
    expect(status.sent).toBeLessThan(2000);
  });

  it("stops at once when asked, and knows no quality where labels do not apply", async () => {
    const url = await server((_, __, response) => setTimeout(() => answer(response), 20));
    const run = startLoad(load(url, 1000, { labelled: false }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const status = await run.stop();
    expect(status.state).toBe("done");
    expect(status.sent).toBeLessThan(50);
    expect([status.quality, status.failed]).toEqual([null, 0]);
  });
});

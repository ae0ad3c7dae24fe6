import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";
import { tracesFromEnvironment } from "./traces";

interface SpanRead {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly failed: boolean;
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface OtlpSpan extends Omit<SpanRead, "attributes" | "fromMs" | "toMs" | "failed"> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

/** A receiver of OTLP over HTTP on loopback, named by the environment for the duration of the test. */
async function startReceiver() {
  const spans: SpanRead[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      bodies.push(`${request.method} ${request.url} ${text}`);
      for (const { scopeSpans } of JSON.parse(text).resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans.map(readSpan));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  traceTo(url);
  return { url, spans, bodies };
}

function traceTo(url: string, more: Record<string, string> = {}): void {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "20", ...more };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

function readSpan({ attributes, startTimeUnixNano, endTimeUnixNano, status, ...span }: OtlpSpan): SpanRead {
  const value = ({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Record<string, unknown>) =>
    stringValue ?? intValue ?? doubleValue ?? boolValue ?? arrayValue;
  return {
    ...span,
    fromMs: Number(startTimeUnixNano) / 1e6,
    toMs: Number(endTimeUnixNano) / 1e6,
    failed: status.code === 2,
    attributes: Object.fromEntries(attributes.map((one) => [one.key, value(one.value)])),
  };
}

const log = pino({ level: "silent" });
const clientTrace = "0af7651916cd43dd8448eb211c80319c";
const clientSpan = "b7ad6b7169203331";
const client = (flags: string) => ({ traceparent: `00-${clientTrace}-${clientSpan}-${flags}`, tracestate: "vendor=1" });

/** A cascade of two models with a judge that scores the small one's answers low, traced as the environment specifies. */
async function tracedCascade({ timeScale = 1, mostSpans }: { timeScale?: number; mostSpans?: number } = {}) {
  const later = (ms: number, say: () => void): void => void setTimeout(say, ms);
  const small = await startTestEngine((_, response) => later(30, () => sayCompletion(response, "5", "small")));
  const large = await startTestEngine(({ body }, response) => {
    if (body.stream !== true) return later(50, () => sayCompletion(response, "4", "large"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(streamEvent({ content: "4" }));
    return later(50, () => response.end(`${streamEvent({}, "stop")}data: [DONE]\n\n`));
  });
  const judge = await startTestEngine((_, response) => later(20, () => sayCompletion(response, "10")));
  const traces = await tracesFromEnvironment({ log, version: "1.2.3", ...(mostSpans !== undefined && { mostSpans }) });
  const gateway = await startTestGateway({}, { traces });
  const stages = [
    { model: "small", urls: [small.url] },
    { model: "large", urls: [large.url] },
  ];
  await gateway.put({ ...testConfig({ stages, thresholds: [70], judgeUrl: judge.url, maxInFlight: 4 }), timeScale });
  return { ...gateway, small, large };
}

const spansOf = async (receiver: { spans: readonly SpanRead[] }, count: number): Promise<readonly SpanRead[]> => {
  await until(() => receiver.spans.length >= count);
  return receiver.spans;
};

describe("traces", () => {
  it("have one root a request, a child for each queue, engine call and judge call, and the client's span as the parent", async () => {
    const receiver = await startReceiver();
    const { chat, small, large, decisions } = await tracedCascade({ timeScale: 10 });
    const before = Date.now();
    const answer = await chat({ max_tokens: 9 }, { headers: { ...client("01"), "x-session-id": "s-1" } });
    expect(answer.status).toBe(200);
    const spans = await spansOf(receiver, 6);
    const [decision] = await decisions();
    expect(spans.map(({ name }) => name).sort()).toEqual([
      "chat cascade/test",
      "chat large",
      "chat small",
      "judge small",
      "queue large",
      "queue small",
    ]);
    expect(spans.every(({ traceId }) => traceId === clientTrace)).toBe(true);
    const root = spans.find(({ name }) => name === "chat cascade/test")!;
    expect(root.parentSpanId).toBe(clientSpan);
    expect(root.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "cascade/test",
      "gen_ai.response.model": "large",
      "gen_ai.conversation.id": "s-1",
      "gen_ai.request.max_tokens": 9,
      "gen_ai.usage.input_tokens": 7,
      "gen_ai.usage.output_tokens": 3,
      "weir.plan": decision!.planId,
      "weir.policy": decision!.policyHash,
      "weir.decision_id": answer.headers.get("x-weir-decision-id"),
      "weir.stage": 2,
      "weir.escalations": 1,
      "weir.canary": false,
      "http.response.status_code": 200,
    });
    expect(root.attributes).not.toHaveProperty("error.type");
    const children = spans.filter((span) => span !== root);
    expect(children.every(({ parentSpanId }) => parentSpanId === root.spanId)).toBe(true);
    expect(children.find(({ name }) => name === "judge small")!.attributes).toMatchObject({
      "weir.judged_score": 10,
      "weir.threshold": 70,
    });

    // Both engines received the same trace, with the root as the parent of their work.
    const upstream = [...small.asked, ...large.asked].map(({ headers }) => [headers.traceparent, headers.tracestate]);
    expect(upstream).toEqual(Array(2).fill([`00-${clientTrace}-${root.spanId}-01`, "vendor=1"]));

    // Wall seconds, whatever the scale; the children follow one another and fill the root except for the gateway's own time.
    expect(root.fromMs).toBeGreaterThanOrEqual(before - 2);
    expect(root.toMs).toBeLessThanOrEqual(Date.now() + 2);
    const inOrder = [...children].sort((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs);
    expect(inOrder.map(({ name }) => name)).toEqual(["queue small", "chat small", "judge small", "queue large", "chat large"]);
    for (const [index, span] of inOrder.entries()) {
      expect(span.fromMs).toBeGreaterThanOrEqual((inOrder[index - 1] ?? { toMs: root.fromMs }).toMs - 5);
      expect(span.toMs).toBeLessThanOrEqual(root.toMs + 0.01);
    }
    const lengths = children.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
    const ownMs = root.toMs - root.fromMs - lengths;
    // Each child may overlap its neighbour by the 5 ms allowed above.
    expect(ownMs).toBeGreaterThan(-5 * children.length);
    // The engines and the judge take at least 95 ms; a busy machine may add to what the gateway takes before and after them.
    expect(lengths).toBeGreaterThan(95);
    expect(ownMs).toBeLessThan(lengths / 2);
  });

  it("begin anew without a client's span, hold no text of anybody's, and tell engines no state of another trace", async () => {
    const receiver = await startReceiver();
    const { post, large } = await tracedCascade();
    const body = { model: "large", messages: [{ role: "user", content: "The secret is quokka." }], user: "someone" };
    const answer = await post("/v1/chat/completions", body, { traceparent: "garbage", tracestate: "vendor=1" });
    expect(answer.status).toBe(200);
    const root = (await spansOf(receiver, 3)).find(({ parentSpanId }) => !parentSpanId);
    expect(root?.name).toBe("chat large");
    expect(large.asked[0]?.headers.traceparent).toMatch(new RegExp(`^00-${root!.traceId}-[0-9a-f]{16}-01$`));
    expect(large.asked[0]?.headers).not.toHaveProperty("tracestate");
    const sent = receiver.bodies.join("\n");
    expect(sent).toContain("POST /v1/traces");
    expect(sent).toContain('"weir-gateway"');
    for (const text of ["secret", "quokka", "someone"]) expect(sent).not.toContain(text);
  });

  it("follow the client's word that it is not sampled, and still tell the engine the trace", async () => {
    const receiver = await startReceiver();
    const { chat, small } = await tracedCascade();
    expect((await chat({}, { headers: client("00") })).status).toBe(200);
    expect((await chat({})).status).toBe(200);
    await spansOf(receiver, 6);
    expect(receiver.spans.some(({ traceId }) => traceId === clientTrace)).toBe(false);
    expect(small.asked[0]?.headers.traceparent).toMatch(new RegExp(`^00-${clientTrace}-[0-9a-f]{16}-00$`));
  });

  it("are as few as OTEL_TRACES_SAMPLER says", async () => {
    const receiver = await startReceiver();
    traceTo(receiver.url, { OTEL_TRACES_SAMPLER: "parentbased_always_off" });
    const { chat } = await tracedCascade();
    await chat({});
    await chat({}, { headers: client("01") });
    const spans = await spansOf(receiver, 6);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([clientTrace]));
  });

  it("say what failed, in words that no engine chose", async () => {
    const receiver = await startReceiver();
    const { chat, post, put, adminUrl } = await tracedCascade();
    const config = await (await fetch(`${adminUrl}/config`)).json();
    const broken = await startTestEngine((_, response) => response.writeHead(500).end("the prompt was: secret"));
    const replicas = [{ id: "large-0", model: "large", url: broken.url, state: "active", maxInFlight: 4 }];
    await put({ ...config, replicas: [...config.replicas.filter(({ model }: { model: string }) => model === "small"), ...replicas] });
    expect((await chat({ model: "large" })).status).toBe(502);
    expect((await post("/v1/embeddings", { model: "nobody", input: "x" })).status).toBe(404);
    const spans = await spansOf(receiver, 8);
    const failed = spans.filter((span) => span.failed).map(({ name, attributes }) => [name, attributes["error.type"]]);
    expect(failed).toEqual([
      ["chat large", "status-5xx"],
      ["chat large", "status-5xx"],
      ["chat large", "status-5xx"],
      ["chat large", "502"],
    ]);
    expect(spans.find(({ name }) => name === "embeddings nobody")?.attributes["error.type"]).toBe("404");
    expect(receiver.bodies.join()).not.toContain("secret");
  });

  it("come to nothing where the environment names no receiver, and engines then get the client's own headers", async () => {
    for (const more of [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, { OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }]) {
      traceTo("http://127.0.0.1:9", more);
      expect(await tracesFromEnvironment({ log, version: "1" })).toBeNull();
      vi.unstubAllEnvs();
    }
    const { chat, small, adminUrl } = await tracedCascade();
    expect((await chat({}, { headers: client("01") })).status).toBe(200);
    expect(small.asked[0]?.headers).toMatchObject(client("01"));
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).not.toContain("weir_gateway_spans_total");
  });

  it("cost no request anything but a count when their receiver is down", async () => {
    traceTo("http://127.0.0.1:9");
    const { chat, adminUrl } = await tracedCascade({ mostSpans: 20 });
    const statuses = await Promise.all(Array.from({ length: 8 }, () => chat({}).then(({ status }) => status)));
    expect(statuses).toEqual(Array(8).fill(200));
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(text).toContain('weir_gateway_spans_total{outcome="dropped"} 28');
    expect(text).toContain('weir_gateway_spans_total{outcome="exported"} 0');
  });

  it("name the plan of a canary's candidate where that decided", async () => {
    const receiver = await startReceiver();
    const { chat, adminUrl } = await tracedCascade();
    const policy = { kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "round-robin" } } as const;
    const candidate = { planId: "plan-new", ...hashed(policy) };
    const canary = {
      candidate,
      shares: [1],
      stepSeconds: 1000,
      minRequests: 1000,
      stop: { errorShare: 0.5, slow: null },
      by: "a",
      reason: "",
    };
    expect(
      (await fetch(`${adminUrl}/canary`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(canary) }))
        .status,
    ).toBe(200);
    await chat({});
    const root = (await spansOf(receiver, 3)).find(({ parentSpanId }) => !parentSpanId);
    expect(root?.attributes).toMatchObject({ "weir.plan": "plan-new", "weir.policy": candidate.policyHash, "weir.canary": true });
  });

  it("hold the first token of a stream that went out as it was written", async () => {
    const receiver = await startReceiver();
    const { chat } = await tracedCascade();
    await (await chat({ model: "large", stream: true })).text();
    await spansOf(receiver, 3);
    const root = receiver.spans.find(({ parentSpanId }) => !parentSpanId)!;
    const [event] = root.events;
    expect(event?.name).toBe("first token");
    const atMs = Number(event?.timeUnixNano) / 1e6;
    expect(atMs).toBeGreaterThan(root.fromMs);
    // The engine writes for 50 ms more; a busy gateway may miss the first of them.
    expect(root.toMs - atMs).toBeGreaterThan(20);
  });

  it("leave user and password of the receiver's address out of the log", async () => {
    const lines: string[] = [];
    const written = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    for (const url of ["http://ann:hidden@127.0.0.1:9/v1/traces", "//ann:hidden@host"]) {
      traceTo(url, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url });
      await (await tracesFromEnvironment({ log: written, version: "1.2.3" }))?.close();
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toContain("hidden");
  });
});

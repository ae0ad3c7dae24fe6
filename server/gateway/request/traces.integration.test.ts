import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { decodeSpans } from "../testing/otlpProtobuf";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig, until } from "../testing/testGateway";
import { plainAttributes, startTraceReceiver, traceTo } from "../testing/traceReceiver";
import { tracesFromEnvironment } from "./traces";

/** A receiver and its spans with plain attributes. */
async function startReceiver(more: Readonly<Record<string, string>> = {}, delayMs = 0) {
  const receiver = await startTraceReceiver(more, delayMs);
  return {
    ...receiver,
    get spans() {
      return receiver.spans.map((span) => ({ ...span, attributes: plainAttributes(span) }));
    },
    sent: () => receiver.exports.map(({ line, body }) => `${line} ${body.toString("latin1")}`).join("\n"),
  };
}
type Receiver = Awaited<ReturnType<typeof startReceiver>>;

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

const spansOf = async (receiver: Receiver, count: number): Promise<Receiver["spans"]> => {
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
      "chat weir-judge",
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
    expect(children.find(({ name }) => name === "chat weir-judge")!.attributes).toMatchObject({
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
    expect(inOrder.map(({ name }) => name)).toEqual(["queue small", "chat small", "chat weir-judge", "queue large", "chat large"]);
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
    const sent = receiver.sent();
    expect(sent).toContain("POST /v1/traces");
    expect(sent).toContain("weir-gateway");
    for (const text of ["secret", "quokka", "someone"]) expect(sent).not.toContain(text);
  });

  it("say what a request asks of the model, where it says it in the type that the API has", async () => {
    const receiver = await startReceiver();
    const { post, large } = await tracedCascade();
    const settings = { temperature: 0.5, top_p: 0.9, top_k: 40, frequency_penalty: 0.1, presence_penalty: -0.5, seed: 7, max_tokens: 9 };
    const body = { model: "large", messages: [{ role: "user", content: "?" }], ...settings, stop: ["END"], n: 2 };
    expect((await post("/v1/chat/completions", { ...body, response_format: { type: "json_object" } })).status).toBe(200);
    expect((await post("/v1/chat/completions", { ...body, temperature: "hot", seed: 0.5, stop: 3, n: 1 })).status).toBe(200);
    await spansOf(receiver, 6);
    const [full, odd] = receiver.spans.filter(({ parentSpanId }) => !parentSpanId).map(({ attributes }) => attributes);
    expect(full).toMatchObject({
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.top_k": 40,
      "gen_ai.request.frequency_penalty": 0.1,
      "gen_ai.request.presence_penalty": -0.5,
      "gen_ai.request.seed": 7,
      "gen_ai.request.max_tokens": 9,
      "gen_ai.request.stop_sequences": ["END"],
      "gen_ai.request.choice.count": 2,
      "gen_ai.output.type": "json",
      "gen_ai.response.finish_reasons": ["stop"],
    });
    for (const name of ["temperature", "seed", "stop_sequences", "choice.count"]) expect(odd).not.toHaveProperty(`gen_ai.request.${name}`);
    const call = receiver.spans.find(({ kind }) => kind === 3);
    expect(call?.attributes).toMatchObject({ "server.address": "127.0.0.1", "server.port": Number(new URL(large.url).port) });
  });

  it.each([
    ["protobuf where nothing says otherwise", {}, "application/x-protobuf"],
    ["protobuf", { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, "application/x-protobuf"],
    ["JSON", { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "application/json"],
    ["JSON for traces alone", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" }, "application/json"],
  ])("go out as %s, with the headers of the environment", async (_, protocol, type) => {
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: "x-team=blue,x-site=lab", OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-team=red" };
    const receiver = await startReceiver({ ...protocol, ...headers });
    const { chat } = await tracedCascade();
    expect((await chat({}, { headers: client("01") })).status).toBe(200);
    const spans = await spansOf(receiver, 6);
    expect(spans.find(({ parentSpanId }) => parentSpanId === clientSpan)?.attributes["gen_ai.usage.output_tokens"]).toBe(3);
    for (const { line, headers: sent } of receiver.exports)
      expect([line, sent["content-type"], sent["x-team"], sent["x-site"]]).toEqual(["POST /v1/traces", type, "red", "lab"]);
  });

  it("name service and version in protobuf, and numbers have the type of their value", async () => {
    const receiver = await startReceiver({ OTEL_SERVICE_NAME: "front" });
    const { chat } = await tracedCascade();
    await chat({ temperature: 0.5, max_tokens: 9 });
    await spansOf(receiver, 6);
    const { resource, spans } = decodeSpans(receiver.exports[0]!.body);
    expect(resource).toMatchObject({ "service.name": { type: "string", value: "front" }, "service.version": { value: "1.2.3" } });
    const root = spans.find(({ kind }) => kind === 2);
    expect(root?.typed).toMatchObject({
      "gen_ai.request.temperature": { type: "double", value: 0.5 },
      "gen_ai.request.max_tokens": { type: "int", value: 9 },
      "gen_ai.request.stream": { type: "boolean", value: false },
      "gen_ai.response.finish_reasons": { type: "string[]", value: ["stop"] },
    });
  });

  it("count as failed where the receiver takes longer than the timeout of the environment", async () => {
    const receiver = await startReceiver({ OTEL_EXPORTER_OTLP_TIMEOUT: "60000", OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "50" }, 60_000);
    const { chat, adminUrl } = await tracedCascade();
    await chat({});
    await until(() => receiver.exports.length > 0);
    const failed = async () => /spans_total\{outcome="failed"\} (\d+)/.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1];
    await until(async () => Number(await failed()) > 0);
  });

  it.each(["grpc", "http/xml"])("are refused with a sentence where the protocol is %s", async (protocol) => {
    const lines: string[] = [];
    traceTo("http://127.0.0.1:9", { OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    expect(await tracesFromEnvironment({ log, version: "1" })).toBeNull();
    expect(lines.join("")).toContain(`is \\"${protocol}\\", but the gateway sends http/protobuf or http/json`);
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
    expect(receiver.sent()).not.toContain("secret");
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
    const atMs = event?.atMs ?? Number.NaN;
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

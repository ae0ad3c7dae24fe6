import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { tracesFromEnvironment } from "./request/traces";
import { startLoadedCascade } from "./testing/loadedCascade";
import type { OtlpSpan } from "./testing/otlpProtobuf";
import { conventionalMetrics, metricProblems, samplesOf, spanProblems } from "./testing/semanticConventions";
import { until } from "./testing/testGateway";
import { startTraceReceiver } from "./testing/traceReceiver";

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

const isRoot = ({ kind }: OtlpSpan): boolean => kind === 2;
const marker = "quokka";

describe("a gateway under load", () => {
  it("emits spans and metrics by the conventions for generative AI, and no prompt or answer in them", async () => {
    const receiver = await startTraceReceiver();
    const traces = await tracesFromEnvironment({ log: pino({ level: "silent" }), version: "1.2.3" });
    const cascade = await startLoadedCascade(await emulators.cascade(20), { traces });
    const requests = await cascade.sendLoad(marker);
    await until(() => receiver.spans.filter(isRoot).length === requests);
    // Spans of children go out before their root ends.
    const { spans } = receiver;
    expect(spans.flatMap(spanProblems)).toEqual([]);

    const roots = spans.filter(isRoot);
    const statuses = new Set(roots.map(({ typed }) => typed["http.response.status_code"]?.value));
    expect([...statuses].sort()).toEqual([200, 404, 499, 502]);
    const operations = new Set(roots.map(({ typed }) => typed["gen_ai.operation.name"]?.value));
    expect([...operations].sort()).toEqual(["chat", "text_completion"]);
    const finished = roots.flatMap(({ typed }) => typed["gen_ai.response.finish_reasons"]?.value ?? []);
    expect(new Set(finished)).toEqual(new Set(["stop", "length"]));
    expect(roots.some(({ typed }) => typed["gen_ai.response.time_to_first_chunk"] !== undefined)).toBe(true);
    const calls = spans.filter(({ kind }) => kind === 3);
    expect(calls.length).toBeGreaterThan(requests);
    expect(calls.filter(({ typed }) => typed["gen_ai.request.model"]?.value === "weir-judge").length).toBeGreaterThan(0);
    expect(calls.every(({ typed }) => typed["server.address"]?.value === "127.0.0.1")).toBe(true);

    const text = await cascade.metrics();
    expect(metricProblems(text)).toEqual([]);
    const samples = samplesOf(text);
    for (const name of conventionalMetrics) expect(samples.some((one) => one.name === `${name}_count` && one.value > 0)).toBe(true);
    // The same requests, and the same calls, by both.
    const count = (name: string) => samples.filter((one) => one.name === `${name}_count`).reduce((sum, { value }) => sum + value, 0);
    expect(count("gen_ai_server_request_duration_seconds")).toBe(roots.length - roots.filter(({ name }) => name === "chat nobody").length);
    expect(count("gen_ai_client_operation_duration_seconds")).toBe(calls.length);
    const tokens = samples.filter(({ name }) => name === "gen_ai_client_token_usage_sum");
    const spent = calls.reduce((sum, { typed }) => sum + Number(typed["gen_ai.usage.output_tokens"]?.value ?? 0), 0);
    const output = tokens.filter(({ labels }) => labels.gen_ai_token_type === "output").reduce((sum, { value }) => sum + value, 0);
    expect(output).toBe(spent);

    expect(cascade.asked()).toContain(marker);
    expect(receiver.exports.map(({ body }) => body.toString("latin1")).join()).not.toContain(marker);
    expect(text).not.toContain(marker);
  });
});

describe("the check of the conventions", () => {
  const span: OtlpSpan = {
    ...{ name: "chat m", kind: 3, traceId: "1", spanId: "2", parentSpanId: "3", fromMs: 0, toMs: 1, failed: false, events: [] },
    typed: {
      "gen_ai.operation.name": { type: "string", value: "chat" },
      "gen_ai.provider.name": { type: "string", value: "weir" },
      "gen_ai.request.model": { type: "string", value: "m" },
    },
  };
  const withAttribute = (name: string, value: OtlpSpan["typed"][string]): OtlpSpan => ({
    ...span,
    typed: { ...span.typed, [name]: value },
  });

  it.each<readonly [string, OtlpSpan]>([
    ["gen_ai.request.warmth is no attribute", withAttribute("gen_ai.request.warmth", { type: "int", value: 1 })],
    ["gen_ai.request.seed has the type string", withAttribute("gen_ai.request.seed", { type: "string", value: "1" })],
    [
      "gen_ai.operation.name has the value talk",
      { ...withAttribute("gen_ai.operation.name", { type: "string", value: "talk" }), name: "talk m" },
    ],
    ["gen_ai.provider.name has the value acme", withAttribute("gen_ai.provider.name", { type: "string", value: "acme" })],
    ["server.port is missing", withAttribute("server.address", { type: "string", value: "h" })],
    ["another name", { ...span, name: "judge m" }],
    ["url.path is missing", { ...span, kind: 2 }],
    ["of a client or of a server", { ...span, kind: 1 }],
    ["error.type is missing", { ...span, failed: true }],
    ["its status is no error", withAttribute("error.type", { type: "string", value: "500" })],
  ])("finds that %s", (problem, wrong) => {
    expect(spanProblems(span)).toEqual([]);
    expect(spanProblems(wrong).join()).toContain(problem);
  });

  const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="weir",gen_ai_request_model="m"';
  const name = "gen_ai_server_time_per_output_token_seconds";
  const edges = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, "+Inf"];
  const exposition = [
    `# TYPE ${name} histogram`,
    ...edges.map((le) => `${name}_bucket{le="${le}",${labels}} 1`),
    ...[`${name}_sum{${labels}} 0.001`, `${name}_count{${labels}} 1`],
  ].join("\n");

  it.each<readonly [string, string]>([
    ["is no metric", exposition.replaceAll("per_output", "of_output")],
    ["is a counter", exposition.replace("histogram", "counter")],
    ["has the buckets", exposition.replace('le="0.05"', 'le="0.06"')],
    [
      "is not cumulative",
      exposition.replace(
        'le="2.5",gen_ai_operation_name="chat",gen_ai_provider_name="weir",gen_ai_request_model="m"} 1',
        `le="2.5",${labels}} 0`,
      ),
    ],
    ["lacks gen_ai.provider.name", exposition.replaceAll('gen_ai_provider_name="weir",', "")],
    ["has the label key", exposition.replaceAll(labels, `${labels},key="a"`)],
    ["counts 2", exposition.replace(/1$/, "2")],
  ])("finds that a metric %s", (problem, wrong) => {
    expect(metricProblems(exposition)).toEqual([]);
    expect(metricProblems(wrong).join()).toContain(problem);
  });
});

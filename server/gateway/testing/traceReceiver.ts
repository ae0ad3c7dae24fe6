import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";
import { decodeSpans, type OtlpSpan, type OtlpValue } from "./otlpProtobuf";

/** One export that a receiver got. */
interface Export {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly OtlpSpan[];
  readonly exports: readonly Export[];
}

interface JsonSpan extends Pick<OtlpSpan, "name" | "kind" | "traceId" | "spanId"> {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/**
 * A receiver of OTLP over HTTP on loopback, as protobuf or JSON, named by the environment for the duration of the test.
 * @param delayMs its time for an answer.
 */
export async function startTraceReceiver(more: Readonly<Record<string, string>> = {}, delayMs = 0): Promise<TraceReceiver> {
  const spans: OtlpSpan[] = [];
  const exports: Export[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const type = request.headers["content-type"] ?? "";
      exports.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      spans.push(...(type === "application/json" ? jsonSpans(body) : decodeSpans(body).spans));
      const answer = (): void => void response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
      if (delayMs === 0) answer();
      else setTimeout(answer, delayMs).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  traceTo(url, more);
  return { url, spans, exports };
}

/** Has the environment name a receiver for the duration of the test. */
export function traceTo(url: string, more: Readonly<Record<string, string>> = {}): void {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "20", ...more };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Attributes without their types. */
export const plainAttributes = ({ typed }: OtlpSpan): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(typed).map(([name, { value }]) => [name, value]));

function jsonSpans(body: Buffer): readonly OtlpSpan[] {
  const { resourceSpans } = JSON.parse(body.toString("utf8")) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(jsonSpan)));
}

function jsonSpan({ startTimeUnixNano, endTimeUnixNano, status, events, attributes, parentSpanId = "", ...span }: JsonSpan): OtlpSpan {
  const { name, kind, traceId, spanId } = span;
  return {
    ...{ name, kind, traceId, spanId, parentSpanId },
    fromMs: Number(startTimeUnixNano) / 1e6,
    toMs: Number(endTimeUnixNano) / 1e6,
    failed: status.code === 2,
    events: events.map((event) => ({ name: event.name, atMs: Number(event.timeUnixNano) / 1e6 })),
    typed: Object.fromEntries(attributes.map(({ key, value }) => [key, jsonValue(value)])),
  };
}

function jsonValue({ stringValue, boolValue, intValue, doubleValue, arrayValue }: Readonly<Record<string, unknown>>): OtlpValue {
  if (typeof stringValue === "string") return { type: "string", value: stringValue };
  if (typeof boolValue === "boolean") return { type: "boolean", value: boolValue };
  if (intValue !== undefined) return { type: "int", value: Number(intValue) };
  if (typeof doubleValue === "number") return { type: "double", value: doubleValue };
  const { values = [] } = (arrayValue ?? {}) as { readonly values?: readonly { readonly stringValue?: string }[] };
  return { type: "string[]", value: values.map((one) => one.stringValue ?? "") };
}

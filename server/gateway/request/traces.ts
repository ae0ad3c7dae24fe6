import type { IncomingMessage } from "node:http";
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { shownName } from "../http/clientNames";
import { type ModelRequest, withoutTrace } from "../http/modelRequest";
import { providerName } from "../lib/genAi";
import { SpanQueue, type SpanTally } from "../lib/spanQueue";
import { RequestTrace } from "./requestTrace";

/** Time to export the last spans at the end. */
const farewellMs = 1000;

/** By protocol of OTLP. The exporter for gRPC would bring a client of its own for what both of these do. */
const exporters: Readonly<Record<string, () => Promise<{ readonly OTLPTraceExporter: new () => SpanExporter }>>> = {
  "http/protobuf": () => import("@opentelemetry/exporter-trace-otlp-proto"),
  "http/json": () => import("@opentelemetry/exporter-trace-otlp-http"),
};

interface TracesOptions {
  readonly log: Logger;
  readonly version: string;
  /** Most spans held until the receiver has them; absent: `SpanQueue`'s default. */
  readonly mostSpans?: number;
}

/**
 * Traces for the receiver of the environment, read as OpenTelemetry's SDKs read it; null if it names no receiver, and then nothing of the
 * SDK is loaded. Spans are sent by OTLP over HTTP, as protobuf unless the environment says JSON; the SDK reads headers, timeout,
 * compression and certificates from the environment itself.
 */
export async function tracesFromEnvironment({ log, version, mostSpans }: TracesOptions): Promise<Traces | null> {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = process.env;
  const { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
  const receiver = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!receiver || OTEL_SDK_DISABLED?.toLowerCase() === "true" || OTEL_TRACES_EXPORTER === "none") return null;
  if (!URL.canParse(receiver)) {
    log.error("no traces: OTEL_EXPORTER_OTLP_ENDPOINT is not a URL");
    return null;
  }
  const protocol = OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || OTEL_EXPORTER_OTLP_PROTOCOL || "http/protobuf";
  const exporter = exporters[protocol];
  if (exporter === undefined) {
    log.error(
      `no traces: OTEL_EXPORTER_OTLP_PROTOCOL is ${JSON.stringify(protocol)}, but the gateway sends http/protobuf or http/json, which collectors take on port 4318`,
    );
    return null;
  }
  const [
    sdk,
    { OTLPTraceExporter },
    { defaultResource, detectResources, envDetector, resourceFromAttributes },
    { W3CTraceContextPropagator },
  ] = await Promise.all([
    import("@opentelemetry/sdk-trace-base"),
    exporter(),
    import("@opentelemetry/resources"),
    import("@opentelemetry/core"),
  ]);
  const own = resourceFromAttributes({ "service.name": "weir-gateway", "service.version": version });
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const queue = new SpanQueue({ exporter: new OTLPTraceExporter(), processor: sdk.BatchSpanProcessor, log, most: mostSpans });
  const provider = new sdk.BasicTracerProvider({ resource, spanProcessors: [queue] });
  // The whole address may contain a user and a password.
  log.info({ receiver: new URL(receiver).origin }, "requests are traced");
  return new Traces({ tracer: provider.getTracer("weir-gateway", version), propagator: new W3CTraceContextPropagator(), queue });
}

interface Tracing {
  readonly tracer: Tracer;
  readonly propagator: TextMapPropagator;
  readonly queue: SpanQueue;
}

/** Begins a trace for each request, or continues the client's. */
export class Traces {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** Spans by outcome so far. */
  get spans(): SpanTally {
    return this.#tracing.queue.spans;
  }

  /** @param startedMs when the request came, on the clock of `performance.now()`. */
  begin(asked: ModelRequest, { request, startedMs }: { readonly request: IncomingMessage; readonly startedMs: number }): RequestTrace {
    const { tracer, propagator } = this.#tracing;
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    const epochMs = Date.now() - performance.now();
    const { operation, path } = asked.endpoint;
    const model = shownName(asked.model);
    const root = tracer.startSpan(
      `${operation} ${model}`,
      {
        kind: SpanKind.SERVER,
        startTime: epochMs + startedMs,
        attributes: {
          "gen_ai.operation.name": operation,
          "gen_ai.provider.name": providerName,
          "gen_ai.request.model": model,
          "http.request.method": "POST",
          "http.route": path,
          "url.path": path,
          "url.scheme": "encrypted" in request.socket ? "https" : "http",
          "weir.decision_id": asked.decisionId,
        },
      },
      parent,
    );
    const context = trace.setSpan(parent, root);
    return new RequestTrace({ tracer, root, context, epochMs, asked: this.#handedOn(asked, context) });
  }

  /** Exports the remaining spans, within a second. */
  async close(): Promise<void> {
    const timeout = new Promise((resolve) => setTimeout(resolve, farewellMs).unref());
    await Promise.race([this.#tracing.queue.shutdown().catch(() => undefined), timeout]);
  }

  /** The request with the trace's own context for the engine in place of the client's. */
  #handedOn(asked: ModelRequest, context: Context): ModelRequest {
    const upstreamHeaders = withoutTrace(asked.upstreamHeaders);
    this.#tracing.propagator.inject(context, upstreamHeaders, defaultTextMapSetter);
    return { ...asked, upstreamHeaders };
  }
}

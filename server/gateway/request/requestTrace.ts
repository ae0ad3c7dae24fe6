import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { Decision, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { ApiError } from "../http/apiError";
import type { ModelRequest } from "../http/modelRequest";

interface RequestTraceOptions {
  readonly tracer: Tracer;
  readonly root: Span;
  /** Has the root as the parent of the spans that begin in it. */
  readonly context: Context;
  /** Added to the clock of `performance.now()` gives Unix milliseconds. */
  readonly epochMs: number;
  readonly asked: ModelRequest;
}

type Finished = Omit<Decision, "sequence">;

/**
 * The trace of one request. Its spans except the root are made from its decision record when it is finished; texts of engines and clients
 * are left out: an engine's error may quote a prompt.
 */
export class RequestTrace {
  readonly #options: RequestTraceOptions;
  /** The request, with the trace's context for the engines. */
  readonly asked: ModelRequest;

  constructor(options: RequestTraceOptions) {
    this.#options = options;
    this.asked = options.asked;
  }

  /** The request was refused before a policy saw it. */
  refused({ status }: ApiError): void {
    const { root } = this.#options;
    this.#end(root, { status, endMs: performance.now() });
  }

  /** The request is finished, or was shed. `timeScale`: engine seconds of its record per wall second. */
  finished(decision: Finished, timeScale: number): void {
    const { root, asked } = this.#options;
    const endMs = performance.now();
    if (root.isRecording()) {
      root.setAttributes(rootAttributes(decision, asked));
      if (decision.ttftSeconds !== null) {
        const beforeEndSeconds = (decision.endToEndSeconds - decision.ttftSeconds) / timeScale;
        root.addEvent("first token", this.#epoch(endMs - beforeEndSeconds * 1000));
      }
      for (const stage of decision.stages) this.#stage(stage, timeScale);
    }
    this.#end(root, { status: decision.status, endMs });
  }

  #stage(stage: StageRecord, timeScale: number): void {
    const { asked } = this.#options;
    const { model, replica, at, queueSeconds, gate, judgedScore, verdict } = stage;
    if (at === undefined) return;
    const wallMs = (seconds: number): number => (seconds / timeScale) * 1000;
    const child = (
      name: string,
      [fromSeconds, toSeconds]: readonly [number, number],
      options: { kind?: SpanKind; attributes: Attributes },
    ) => {
      const { tracer, context } = this.#options;
      const span = tracer.startSpan(name, { ...options, startTime: this.#epoch(wallMs(fromSeconds)) }, context);
      const failure = options.attributes["error.type"];
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(this.#epoch(wallMs(toSeconds)));
    };
    const { operation } = asked.endpoint;
    const where = { "gen_ai.request.model": model, "weir.replica": replica };
    // A retried stage keeps the time it first joined the queue, for the policy; this wait is the last one.
    child(`queue ${model}`, [at.dispatched - queueSeconds, at.dispatched], { attributes: where });
    child(`${operation} ${model}`, [at.dispatched, at.answered], {
      kind: SpanKind.CLIENT,
      attributes: {
        ...where,
        "gen_ai.operation.name": operation,
        ...tokens(stage),
        ...(verdict === "failed" && gate === undefined && { "error.type": stage.failure ?? "other" }),
      },
    });
    if (gate === undefined) return;
    child(`${gate.kind === "judge" ? "judge" : "gate"} ${model}`, [at.answered, at.answered + gate.seconds], {
      kind: SpanKind.CLIENT,
      attributes: {
        "weir.gate": gate.kind,
        "weir.verdict": verdict,
        ...(stage.threshold !== null && { "weir.threshold": stage.threshold }),
        ...(judgedScore === null ? { "error.type": stage.unscored } : { "weir.judged_score": judgedScore }),
      },
    });
  }

  #end(span: Span, { status, endMs }: { readonly status: number; readonly endMs: number }): void {
    span.setAttribute("http.response.status_code", status);
    if (status >= 400) span.setAttribute("error.type", String(status));
    // By OpenTelemetry's rules a client error is not an error of the server's span.
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(this.#epoch(endMs));
  }

  #epoch(ms: number): number {
    return this.#options.epochMs + ms;
  }
}

function rootAttributes(decision: Finished, { programId, inSession, mostTokens, stream }: ModelRequest): Attributes {
  const { planId, policyHash, candidates = [], degraded = [], stages, canary, key, objective, costUsd } = decision;
  const last = stages.at(-1);
  const given = last?.verdict === "accepted" ? last : undefined;
  return {
    "gen_ai.request.stream": stream,
    ...(mostTokens !== null && { "gen_ai.request.max_tokens": mostTokens }),
    ...(inSession && { "gen_ai.conversation.id": programId }),
    ...(given && { "gen_ai.response.model": given.model, ...tokens(given) }),
    ...(planId !== "" && { "weir.plan": planId }),
    "weir.policy": policyHash,
    ...(last && { "weir.stage": candidates.indexOf(last.model) + 1 }),
    "weir.escalations": stages.filter(({ verdict }) => verdict === "escalated").length,
    "weir.canary": canary ?? false,
    ...(degraded.length > 0 && { "weir.degraded": [...degraded] }),
    ...(key !== undefined && { "weir.key": key }),
    ...(objective !== undefined && { "weir.objective": objective }),
    ...(typeof costUsd === "number" && { "weir.cost_usd": costUsd }),
  };
}

function tokens({ inputTokens, outputTokens }: StageRecord): Attributes {
  return {
    ...(inputTokens !== null && { "gen_ai.usage.input_tokens": inputTokens }),
    ...(outputTokens !== null && { "gen_ai.usage.output_tokens": outputTokens }),
  };
}

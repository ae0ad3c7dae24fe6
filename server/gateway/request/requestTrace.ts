import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { Decision, GateRecord, GatewayConfig, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { ApiError } from "../http/apiError";
import { chatEndpoint } from "../http/chatEndpoint";
import type { ModelRequest } from "../http/modelRequest";
import { errorType, providerName } from "../lib/genAi";
import { addressOf, engineAddress } from "./engineAddresses";
import { requestAttributes } from "./requestAttributes";

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

interface FinishedUnder {
  /** Engine seconds of its record per wall second. */
  readonly timeScale: number;
  /** The configuration in force, which knows the addresses of engines; null: none. */
  readonly config: GatewayConfig | null;
}

interface ChildSpan {
  readonly name: string;
  /** Its begin and its end, in engine seconds. */
  readonly span: readonly [number, number];
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
}

/**
 * The trace of one request. Its spans except the root are made from its decision record when it is finished; texts of engines and of
 * prompts are left out: an engine's error may quote a prompt. Calls of engines and of the judge follow OpenTelemetry's conventions for
 * generative AI.
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

  /** The request is finished, or was shed. */
  finished(decision: Finished, under: FinishedUnder): void {
    const { root, asked } = this.#options;
    const { timeScale } = under;
    const endMs = performance.now();
    if (root.isRecording()) {
      root.setAttributes(requestAttributes(asked));
      root.setAttributes(decisionAttributes(decision));
      const { ttftSeconds } = decision;
      if (ttftSeconds !== null) {
        root.setAttribute("gen_ai.response.time_to_first_chunk", ttftSeconds / timeScale);
        const beforeEndSeconds = (decision.endToEndSeconds - ttftSeconds) / timeScale;
        root.addEvent("first token", this.#epoch(endMs - beforeEndSeconds * 1000));
      }
      for (const stage of decision.stages) this.#stage(stage, under);
    }
    this.#end(root, { status: decision.status, endMs });
  }

  #stage(stage: StageRecord, under: FinishedUnder): void {
    const { model, replica, at, queueSeconds, gate, verdict } = stage;
    if (at === undefined) return;
    const { timeScale, config } = under;
    const { operation } = this.#options.asked.endpoint;
    // A retried stage keeps the time it first joined the queue, for the policy; this wait is the last one.
    const waited = [at.dispatched - queueSeconds, at.dispatched] as const;
    const where = { "gen_ai.request.model": model, "weir.replica": replica };
    this.#child({ name: `queue ${model}`, span: waited, attributes: where }, timeScale);
    const place = config === null ? undefined : engineAddress(config, replica);
    const failed = verdict === "failed" && gate === undefined;
    const attributes: Attributes = {
      ...where,
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": providerName,
      ...(place && { "server.address": place.address, "server.port": place.port }),
      ...(at.firstToken !== undefined && {
        "gen_ai.request.stream": true,
        "gen_ai.response.time_to_first_chunk": (at.firstToken - at.dispatched) / timeScale,
      }),
      ...(failed ? { "error.type": errorType(stage.failure) } : { "gen_ai.response.model": model }),
      ...answerAttributes(stage),
    };
    const name = `${operation} ${model}`;
    this.#child({ name, span: [at.dispatched, at.answered], kind: SpanKind.CLIENT, attributes }, timeScale);
    if (gate !== undefined) this.#gate({ ...stage, gate, at }, under);
  }

  /** A gate that is the judge has the span of its call alone. */
  #gate(stage: GatedStage, { timeScale, config }: FinishedUnder): void {
    const { model, at, gate, judgedScore, judgeSeconds, threshold, verdict, unscored } = stage;
    const end = at.answered + gate.seconds;
    const scored: Attributes = {
      "weir.gate": gate.kind,
      "weir.gated_model": model,
      "weir.verdict": verdict,
      ...(threshold !== null && { "weir.threshold": threshold }),
      ...(judgedScore === null ? { "error.type": errorType(unscored) } : { "weir.judged_score": judgedScore }),
    };
    const isJudge = gate.kind === "judge" && judgeSeconds !== null;
    if (!isJudge) this.#child({ name: `gate ${model}`, span: [at.answered, end], attributes: scored }, timeScale);
    const judge = config?.judge;
    if (judgeSeconds === null || !judge) return;
    const place = judge.url === undefined ? undefined : addressOf(judge.url);
    const attributes: Attributes = {
      "gen_ai.operation.name": chatEndpoint.operation,
      "gen_ai.provider.name": providerName,
      "gen_ai.request.model": judge.model,
      ...(place && { "server.address": place.address, "server.port": place.port }),
      ...(isJudge && scored),
    };
    const name = `${chatEndpoint.operation} ${judge.model}`;
    this.#child({ name, span: [isJudge ? at.answered : end - judgeSeconds, end], kind: SpanKind.CLIENT, attributes }, timeScale);
  }

  #child({ name, span: [from, to], ...options }: ChildSpan, timeScale: number): void {
    const { tracer, context } = this.#options;
    const at = (seconds: number): number => this.#epoch((seconds / timeScale) * 1000);
    const child = tracer.startSpan(name, { ...options, startTime: at(from) }, context);
    if (options.attributes["error.type"] !== undefined) child.setStatus({ code: SpanStatusCode.ERROR });
    child.end(at(to));
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

interface GatedStage extends StageRecord {
  readonly gate: GateRecord;
  readonly at: NonNullable<StageRecord["at"]>;
}

function decisionAttributes(decision: Finished): Attributes {
  const { planId, policyHash, candidates = [], degraded = [], stages, canary, key, objective, costUsd } = decision;
  const last = stages.at(-1);
  const given = last?.verdict === "accepted" ? last : undefined;
  return {
    ...(given && { "gen_ai.response.model": given.model, ...answerAttributes(given) }),
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

function answerAttributes({ finishReasons, inputTokens, outputTokens }: StageRecord): Attributes {
  return {
    ...(finishReasons && { "gen_ai.response.finish_reasons": [...finishReasons] }),
    ...(inputTokens !== null && { "gen_ai.usage.input_tokens": inputTokens }),
    ...(outputTokens !== null && { "gen_ai.usage.output_tokens": outputTokens }),
  };
}

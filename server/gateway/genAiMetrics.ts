import { type Decision, type GateCall, isGateCause, type StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { chatEndpoint } from "./http/chatEndpoint";
import { endpoints } from "./http/endpoints";
import { errorType, providerName, secondsPerOutputToken } from "./lib/genAi";
import type { MetricRegistry } from "./lib/metricRegistry";

// The bucket boundaries that the conventions recommend for each metric.
const durationBuckets = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenCountBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const tokenTimeBuckets = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const firstTokenBuckets = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const call = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"] as const;
const answer = [...call, "gen_ai_response_model"] as const;
const failing = [...call, "error_type"] as const;
const answerOrError = [...answer, "error_type"] as const;
const tokens = [...call, "gen_ai_token_type"] as const;

const table = {
  request: [
    "gen_ai_server_request_duration_seconds",
    "gen_ai.server.request.duration: time of a request, shed ones among them, in engine seconds.",
    answerOrError,
    durationBuckets,
  ],
  firstToken: [
    "gen_ai_server_time_to_first_token_seconds",
    "gen_ai.server.time_to_first_token: of answers that were streamed whole, in engine seconds.",
    answer,
    firstTokenBuckets,
  ],
  tokenTime: [
    "gen_ai_server_time_per_output_token_seconds",
    "gen_ai.server.time_per_output_token: after the first, of answers streamed whole whose engine counts tokens; engine seconds.",
    answer,
    tokenTimeBuckets,
  ],
  call: [
    "gen_ai_client_operation_duration_seconds",
    "gen_ai.client.operation.duration: calls of engines and of the judge, in engine seconds.",
    failing,
    durationBuckets,
  ],
  tokens: [
    "gen_ai_client_token_usage",
    "gen_ai.client.token.usage: tokens of each call as the engine counts them.",
    tokens,
    tokenCountBuckets,
  ],
} as const;

const none: readonly GateCall[] = [];

type Finished = Omit<Decision, "sequence">;

const operations = new Map(endpoints.map(({ path, operation }) => [path, operation]));

/**
 * The metrics of OpenTelemetry's conventions for generative AI, under the names that Prometheus gives them: `gen_ai.server.…` for requests
 * of clients, `gen_ai.client.…` for calls of engines and of the judge. Addresses of engines are left out: they would multiply the series,
 * and the metrics are open without the token. Seconds are engine seconds.
 */
export class GenAiMetrics {
  readonly #metrics;

  constructor(registry: MetricRegistry) {
    this.#metrics = registry.table(table);
  }

  /**
   * Records a finished or shed request and its calls.
   * @param served the served name; no label takes a client's text.
   * @param judgeModel null where no judge is configured.
   */
  record(served: string, decision: Finished, judgeModel: string | null): void {
    const { status, stages, ttftSeconds, endToEndSeconds, endpoint = chatEndpoint.path } = decision;
    const operation = operations.get(endpoint) ?? chatEndpoint.operation;
    const last = stages.at(-1);
    const given = last?.verdict === "accepted" ? last : undefined;
    // All labels are written out: a spread costs several times as much as counting.
    const answered = {
      gen_ai_operation_name: operation,
      gen_ai_provider_name: providerName,
      gen_ai_request_model: served,
      gen_ai_response_model: given?.model ?? "",
      error_type: status >= 400 ? String(status) : "",
    };
    this.#metrics.request.observe(answered, endToEndSeconds);
    if (given !== undefined && status < 400) {
      if (ttftSeconds !== null) this.#metrics.firstToken.observe(answered, ttftSeconds);
      const perToken = secondsPerOutputToken(given);
      if (perToken !== null) this.#metrics.tokenTime.observe(answered, perToken);
    }
    for (const stage of stages) this.#recordStage(stage, operation, judgeModel);
  }

  #recordStage(stage: StageRecord, operation: string, judgeModel: string | null): void {
    const { model, verdict, failure, seconds, inputTokens, outputTokens, judgeSeconds, unscored, gate, unusedCalls } = stage;
    const failed = verdict === "failed" && gate === undefined ? errorType(failure) : null;
    this.#recordCall(operation, { model, seconds, failed, inputTokens, outputTokens });
    if (judgeSeconds !== null && judgeModel !== null) {
      const unjudged = unscored === undefined || isGateCause(unscored) ? null : errorType(unscored);
      const judged = { model: judgeModel, seconds: judgeSeconds, failed: unjudged, inputTokens: null, outputTokens: null };
      this.#recordCall(chatEndpoint.operation, judged);
    }
    for (const further of gate?.calls ?? none) this.#recordFurther(operation, further);
    for (const further of unusedCalls ?? none) this.#recordFurther(operation, further);
  }

  /** A further answer that a gate asked for. */
  #recordFurther(operation: string, { outcome, seconds, ...call }: GateCall): void {
    if (seconds === undefined) return;
    const failed = outcome === "answered" ? null : outcome === "failed" ? errorType("other") : outcome;
    this.#recordCall(operation, { ...call, seconds, failed });
  }

  #recordCall(operation: string, { model, seconds, failed, inputTokens, outputTokens }: RecordedCall): void {
    const labels = {
      gen_ai_operation_name: operation,
      gen_ai_provider_name: providerName,
      gen_ai_request_model: model,
      error_type: failed ?? "",
      gen_ai_token_type: "input",
    };
    this.#metrics.call.observe(labels, seconds);
    if (inputTokens !== null) this.#metrics.tokens.observe(labels, inputTokens);
    if (outputTokens === null) return;
    labels.gen_ai_token_type = "output";
    this.#metrics.tokens.observe(labels, outputTokens);
  }
}

interface RecordedCall {
  readonly model: string;
  readonly seconds: number;
  /** Its `error.type`; null if it did not fail. */
  readonly failed: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

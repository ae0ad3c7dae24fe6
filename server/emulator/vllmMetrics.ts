import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { CHOICE_BUCKETS, countBuckets, PREEMPTION_BUCKETS, REQUEST_BUCKETS, TOKEN_BUCKETS, TTFT_BUCKETS } from "./vllmBuckets";

/** vLLM's default KV block. */
const BLOCK_TOKENS = 16;

const FINISHED_REASONS = ["stop", "length", "abort", "error", "repetition"] as const;

/** Values that are read from the engine at a scrape. */
interface EngineLevels {
  readonly running: number;
  readonly waiting: number;
  /** 0..1 */
  readonly kvUse: number;
  readonly preemptions: number;
  /** Tokens generated so far for sequences that have not ended. */
  readonly openTokens: number;
}

/** A finished sequence, its times in engine seconds. */
interface FinishedSequence {
  readonly reason: "stop" | "length";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The limit of its output. */
  readonly maxTokens: number;
  readonly preemptions: number;
  readonly queueSeconds: number;
  readonly prefillSeconds: number;
  readonly decodeSeconds: number;
  readonly endToEndSeconds: number;
}

/** The metrics of one engine under vLLM's names. */
export interface VllmMetrics {
  firstToken(sequence: { readonly inputTokens: number; readonly ttftSeconds: number }): void;
  finished(sequence: FinishedSequence): void;
  /** All choices of a prompt are finished; the longest has so many tokens. */
  answered(choices: number, longestTokens: number): void;
  aborted(generatedTokens: number): void;
  /** A parser of tool calls has read an answer that is not streamed, or a piece of a stream. */
  toolsRead(reading: { readonly isStream: boolean; readonly isCall: boolean }): void;
  /** The text of the metrics, without those of single steps (see `StepCounts`). */
  text(): Promise<string>;
}

export interface VllmMetricsOptions {
  readonly model: string;
  readonly kvTokens: number;
  readonly memoryShare: number;
  readonly maxModelTokens: number;
  readonly levels: () => EngineLevels;
}

/**
 * Creates the registry of one engine that has no prefix cache, takes no images, does not sleep and does not estimate its own work: its
 * figures of these are 0, as a vLLM's that was started so.
 */
export function createVllmMetrics({ model, kvTokens, memoryShare, maxModelTokens, levels }: VllmMetricsOptions): VllmMetrics {
  const registry = new Registry();
  const registers = [registry];
  const own = { engine: "0", model_name: model };
  const labelNames = ["engine", "model_name"] as const;

  const histogram = (name: string, help: string, buckets: number[]) => {
    const made = new Histogram({ name: `vllm:${name}`, help, buckets, labelNames, registers });
    // Real servers export empty buckets from the start: an engine without requests lacks no metric.
    made.zero(own);
    return made.labels(own);
  };
  const tokenBuckets = countBuckets(maxModelTokens);
  const seconds = (name: string, phase: string) => histogram(name, `Histogram of ${phase} for request.`, REQUEST_BUCKETS);
  const ttft = histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", TTFT_BUCKETS);
  const perToken = histogram(
    "request_time_per_output_token_seconds",
    "Histogram of time_per_output_token_seconds per request.",
    TOKEN_BUCKETS,
  );
  const endToEnd = histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", REQUEST_BUCKETS);
  const queued = seconds("request_queue_time_seconds", "time spent in WAITING phase");
  const inference = seconds("request_inference_time_seconds", "time spent in RUNNING phase");
  const prefill = seconds("request_prefill_time_seconds", "time spent in PREFILL phase");
  const decode = seconds("request_decode_time_seconds", "time spent in DECODE phase");
  const promptLength = histogram("request_prompt_tokens", "Number of prefill tokens processed.", tokenBuckets);
  const answerLength = histogram("request_generation_tokens", "Number of generation tokens processed.", tokenBuckets);
  const computed = histogram(
    "request_prefill_kv_computed_tokens",
    "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
    tokenBuckets,
  );
  const limit = histogram("request_params_max_tokens", "Histogram of the max_tokens request parameter.", tokenBuckets);
  const longest = histogram(
    "request_max_num_generation_tokens",
    "Histogram of maximum number of requested generation tokens.",
    tokenBuckets,
  );
  const choicesAsked = histogram("request_params_n", "Histogram of the n request parameter.", CHOICE_BUCKETS);
  const preempted = histogram("request_num_preemptions", "Histogram of the number of times a request was preempted.", PREEMPTION_BUCKETS);

  const level = (name: string, help: string, read: (now: EngineLevels) => number): void => {
    new Gauge({
      name: `vllm:${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.set(own, read(levels()));
      },
    });
  };
  level("num_requests_running", "Number of requests in model execution batches.", (now) => now.running);
  level("num_requests_waiting", "Number of requests waiting to be processed.", (now) => now.waiting);
  level("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", (now) => now.kvUse);
  new Gauge({
    name: "vllm:num_requests_waiting_by_reason",
    help: "Number of waiting requests by reason.",
    labelNames: [...labelNames, "reason"],
    registers,
    collect() {
      this.set({ ...own, reason: "capacity" }, levels().waiting);
      this.set({ ...own, reason: "deferred" }, 0);
    },
  });
  const sleep = new Gauge({
    name: "vllm:engine_sleep_state",
    help: "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake.",
    labelNames: [...labelNames, "sleep_state"],
    registers,
  });
  for (const state of ["awake", "weights_offloaded", "discard_all"]) sleep.set({ ...own, sleep_state: state }, state === "awake" ? 1 : 0);

  const total = (name: string, help: string, read: () => number, labels: Readonly<Record<string, string>> = {}): void => {
    new Counter({
      name: `vllm:${name}`,
      help,
      labelNames: [...labelNames, ...Object.keys(labels)],
      registers,
      collect() {
        this.reset();
        this.inc({ ...own, ...labels }, read());
      },
    });
  };
  let promptTokens = 0;
  let endedTokens = 0;
  total("num_preemptions_total", "Cumulative number of preemption from the engine.", () => levels().preemptions);
  total("prompt_tokens_total", "Number of prefill tokens processed.", () => promptTokens);
  total("generation_tokens_total", "Number of generation tokens processed.", () => endedTokens + levels().openTokens);

  /** A counter with a value for each of a label's, or with none. */
  const counts = (name: string, help: string, label: string | null, values: readonly string[]) => {
    const counter = new Counter({
      name: `vllm:${name}_total`,
      help,
      labelNames: label === null ? labelNames : [...labelNames, label],
      registers,
    });
    for (const value of values) counter.inc(label === null ? own : { ...own, [label]: value }, 0);
    return counter;
  };
  const success = counts("request_success", "Count of successfully processed requests.", "finished_reason", FINISHED_REASONS);
  const bySource = counts("prompt_tokens_by_source", "Number of prompt tokens by source.", "source", [
    "local_compute",
    "local_cache_hit",
    "external_kv_transfer",
  ]);
  counts("prompt_tokens_cached", "Number of cached prompt tokens (local + external).", null, [""]);
  counts("prompt_tokens_cached_by_source", "Prefix-cache hit tokens by the cache tier that supplied them.", "source", [
    "device",
    "host",
    "p2p",
    "disk",
    "external_unspecified",
  ]);
  for (const cache of ["prefix_cache", "external_prefix_cache", "mm_cache"])
    for (const what of ["queries", "hits"]) counts(`${cache}_${what}`, `${what} of ${cache}.`, null, [""]);
  const rejections = new Counter({
    name: "vllm:admission_rejections_total",
    help: "Number of admission attempts rejected by a queue limit, by reason.",
    labelNames: ["model_name", "reason"],
    registers,
  });
  for (const reason of ["max_num_queued_reqs", "max_num_queued_tokens"]) rejections.inc({ model_name: model, reason }, 0);

  for (const what of ["flops", "read_bytes", "write_bytes"]) counts(`estimated_${what}_per_gpu`, `Estimated ${what} per GPU.`, null, [""]);
  const toolCalls = new Counter({
    name: "vllm:tool_call_parser_invocations_total",
    help: "Total number of ToolParser invocations, once per choice or per delta of a stream.",
    labelNames: ["model_name", "mode", "outcome", "request_type"],
    registers,
  });
  for (const mode of ["streaming", "non_streaming"])
    for (const outcome of ["tool_call", "no_tool_call"])
      for (const type of ["chat_completions", "responses", "other"])
        toolCalls.inc({ model_name: model, mode, outcome, request_type: type }, 0);

  const blocks = Math.floor(kvTokens / BLOCK_TOKENS);
  const configuration = {
    engine: own.engine,
    block_size: String(BLOCK_TOKENS),
    cache_dtype: "auto",
    enable_prefix_caching: "False",
    gpu_memory_utilization: String(memoryShare),
    kv_cache_max_concurrency: String((blocks * BLOCK_TOKENS) / maxModelTokens),
    kv_cache_size_tokens: String(blocks * BLOCK_TOKENS),
    num_gpu_blocks: String(blocks),
  };
  new Gauge({
    name: "vllm:cache_config_info",
    help: "Information of the LLMEngine CacheConfig",
    labelNames: Object.keys(configuration),
    registers,
  }).set(configuration, 1);

  return {
    firstToken({ inputTokens, ttftSeconds }) {
      promptTokens += inputTokens;
      bySource.inc({ ...own, source: "local_compute" }, inputTokens);
      ttft.observe(ttftSeconds);
    },
    finished(sequence) {
      const { reason, inputTokens, outputTokens, prefillSeconds, decodeSeconds } = sequence;
      endedTokens += outputTokens;
      success.inc({ ...own, finished_reason: reason });
      queued.observe(sequence.queueSeconds);
      prefill.observe(prefillSeconds);
      decode.observe(decodeSeconds);
      inference.observe(prefillSeconds + decodeSeconds);
      endToEnd.observe(sequence.endToEndSeconds);
      // An answer of one token counts as 0, as in vLLM.
      perToken.observe(outputTokens > 1 ? decodeSeconds / (outputTokens - 1) : 0);
      promptLength.observe(inputTokens);
      computed.observe(inputTokens);
      answerLength.observe(outputTokens);
      limit.observe(sequence.maxTokens);
      preempted.observe(sequence.preemptions);
    },
    answered(choices, longestTokens) {
      choicesAsked.observe(choices);
      longest.observe(longestTokens);
    },
    aborted(generatedTokens) {
      endedTokens += generatedTokens;
      success.inc({ ...own, finished_reason: "abort" });
    },
    toolsRead({ isStream, isCall }) {
      const [mode, outcome] = [isStream ? "streaming" : "non_streaming", isCall ? "tool_call" : "no_tool_call"];
      toolCalls.inc({ model_name: model, mode, outcome, request_type: "chat_completions" });
    },
    text: () => registry.metrics(),
  };
}

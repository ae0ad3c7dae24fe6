import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Bucket edges of vLLM V1 (`vllm/v1/metrics/loggers.py`), so that quantiles are comparable with real engines'. */
const TTFT_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560];
const TOKEN_BUCKETS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const REQUEST_BUCKETS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];

/** vLLM's default KV block. */
const BLOCK_TOKENS = 16;

const FINISHED_REASONS = ["stop", "length", "abort"] as const;

/** Values that are read from the engine at a scrape. */
interface EngineLevels {
  readonly running: number;
  readonly waiting: number;
  /** 0..1 */
  readonly kvUse: number;
  readonly preemptions: number;
  /** Tokens generated so far for requests that have not ended. */
  readonly openTokens: number;
}

/** Times of a finished request, in engine seconds. */
interface FinishedRequest {
  readonly reason: "stop" | "length";
  readonly outputTokens: number;
  readonly queueSeconds: number;
  readonly ttftSeconds: number;
  readonly endToEndSeconds: number;
}

/** The metrics of one engine under vLLM V1's names. */
export interface VllmMetrics {
  firstToken(request: { readonly inputTokens: number; readonly ttftSeconds: number }): void;
  finished(request: FinishedRequest): void;
  aborted(generatedTokens: number): void;
  /** The text of `/metrics`. */
  text(): Promise<string>;
}

export interface VllmMetricsOptions {
  readonly model: string;
  readonly kvTokens: number;
  readonly memoryShare: number;
  readonly levels: () => EngineLevels;
}

/**
 * Creates the registry of one engine. Gaps between single tokens (`inter_token_latency_seconds`) are absent: the emulation skips decode
 * steps and knows only means per request. Caches and features that it does not have are absent too.
 */
export function createVllmMetrics({ model, kvTokens, memoryShare, levels }: VllmMetricsOptions): VllmMetrics {
  const registry = new Registry();
  const registers = [registry];
  const own = { model_name: model, engine: "0" };
  const labelNames = ["model_name", "engine"] as const;

  const histogram = (name: string, help: string, buckets: number[]) => {
    const made = new Histogram({ name: `vllm:${name}`, help, buckets, labelNames, registers });
    // Real servers export empty buckets from the start: an engine without requests lacks no metric.
    made.zero(own);
    return made.labels(own);
  };
  const ttft = histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", TTFT_BUCKETS);
  const perToken = histogram(
    "request_time_per_output_token_seconds",
    "Histogram of time_per_output_token_seconds per request.",
    TOKEN_BUCKETS,
  );
  const endToEnd = histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", REQUEST_BUCKETS);
  const queued = histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", REQUEST_BUCKETS);

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

  const total = (name: string, help: string, read: () => number): void => {
    new Counter({
      name: `vllm:${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        this.inc(own, read());
      },
    });
  };
  let promptTokens = 0;
  let endedTokens = 0;
  total("num_preemptions_total", "Cumulative number of preemption from the engine.", () => levels().preemptions);
  total("prompt_tokens_total", "Number of prefill tokens processed.", () => promptTokens);
  total("generation_tokens_total", "Number of generation tokens processed.", () => endedTokens + levels().openTokens);

  const success = new Counter({
    name: "vllm:request_success_total",
    help: "Count of successfully processed requests.",
    labelNames: [...labelNames, "finished_reason"],
    registers,
  });
  for (const reason of FINISHED_REASONS) success.inc({ ...own, finished_reason: reason }, 0);

  const configuration = {
    ...own,
    block_size: String(BLOCK_TOKENS),
    cache_dtype: "auto",
    enable_prefix_caching: "False",
    gpu_memory_utilization: String(memoryShare),
    num_gpu_blocks: String(Math.floor(kvTokens / BLOCK_TOKENS)),
  };
  new Gauge({
    name: "vllm:cache_config_info",
    help: "Information of the LLMEngine CacheConfig",
    labelNames: Object.keys(configuration),
    registers,
  }).set(configuration, 1);

  return {
    firstToken(request) {
      promptTokens += request.inputTokens;
      ttft.observe(request.ttftSeconds);
    },
    finished(request) {
      endedTokens += request.outputTokens;
      success.inc({ ...own, finished_reason: request.reason });
      queued.observe(request.queueSeconds);
      endToEnd.observe(request.endToEndSeconds);
      if (request.outputTokens > 1) perToken.observe((request.endToEndSeconds - request.ttftSeconds) / (request.outputTokens - 1));
    },
    aborted(generatedTokens) {
      endedTokens += generatedTokens;
      success.inc({ ...own, finished_reason: "abort" });
    },
    text: () => registry.metrics(),
  };
}

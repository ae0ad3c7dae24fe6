import type { EngineRow } from "./engineMapping";

/**
 * In vLLM, all API server processes but one exported 0 until vllm-project/vllm PR 28792. Ranks of data parallelism, `engine`, are summed.
 */
const vllmSeries = { largestOf: ["pid"] };
/** Ray Serve exports vLLM's metrics again under its own prefix; it writes the colon as `_` since it no longer accepts one. */
const vllmPrefixes = ["vllm:", "ray_vllm:", "ray_vllm_"];

const vllmMetrics = {
  running: [{ name: "num_requests_running" }],
  waiting: [{ name: "num_requests_waiting" }],
  // vLLM 0.32 names the size itself, which is not the product where layers differ in their caches.
  kvCapacityTokens: [
    { name: "cache_config_info", labels: ["kv_cache_size_tokens"] },
    { name: "cache_config_info", labels: ["block_size", "num_gpu_blocks"] },
  ],
  preemptions: [{ name: "num_preemptions_total" }],
  promptTokens: [{ name: "prompt_tokens_total" }],
  generationTokens: [{ name: "generation_tokens_total" }],
  // llm-d-inference-sim calls the label finish_reason.
  answered: [{ name: "request_success_total", except: { finished_reason: ["abort", "error"], finish_reason: ["abort", "error"] } }],
  ttftSeconds: [{ name: "time_to_first_token_seconds" }],
  endToEndSeconds: [{ name: "e2e_request_latency_seconds" }],
  queueSeconds: [{ name: "request_queue_time_seconds" }],
} satisfies EngineRow["canonicalMetrics"];

/**
 * vLLM (`vllm/v1/metrics/loggers.py`, docs/design/metrics.md). time_per_output_token_seconds counts every gap, like its successor
 * inter_token_latency_seconds: both are ITL.
 */
const vllm: readonly EngineRow[] = [
  {
    // Weir's emulator: vLLM's names; what it has no part of, a prefix cache and sleep, stays 0.
    engine: "weir-emulator",
    prefixes: ["vllm:"],
    build: "+emulated",
    series: vllmSeries,
    canonicalMetrics: {
      ...vllmMetrics,
      kvUse: [{ name: "kv_cache_usage_perc" }],
      tpotSeconds: [{ name: "request_time_per_output_token_seconds" }],
      itlSeconds: [{ name: "inter_token_latency_seconds" }],
    },
  },
  {
    engine: "vllm",
    prefixes: vllmPrefixes,
    versions: { from: "0.9.2" },
    marks: ["kv_cache_usage_perc", "prefix_cache_queries_total"],
    series: vllmSeries,
    canonicalMetrics: {
      ...vllmMetrics,
      kvUse: [{ name: "kv_cache_usage_perc" }, { name: "gpu_cache_usage_perc" }],
      prefixQueries: [{ name: "prefix_cache_queries_total" }, { name: "gpu_prefix_cache_queries_total" }],
      prefixHits: [{ name: "prefix_cache_hits_total" }, { name: "gpu_prefix_cache_hits_total" }],
      tpotSeconds: [{ name: "request_time_per_output_token_seconds" }],
      itlSeconds: [{ name: "inter_token_latency_seconds" }, { name: "time_per_output_token_seconds" }],
      sleepState: [{ name: "engine_sleep_state", label: "sleep_state" }],
    },
  },
  {
    // The first releases of the V1 engine.
    engine: "vllm",
    prefixes: vllmPrefixes,
    versions: { from: "0.8", before: "0.9.2" },
    marks: ["gpu_prefix_cache_queries_total"],
    series: vllmSeries,
    canonicalMetrics: {
      ...vllmMetrics,
      kvUse: [{ name: "gpu_cache_usage_perc" }],
      prefixQueries: [{ name: "gpu_prefix_cache_queries_total" }],
      prefixHits: [{ name: "gpu_prefix_cache_hits_total" }],
      itlSeconds: [{ name: "time_per_output_token_seconds" }],
    },
  },
  {
    // The V0 engine, the only one before 0.8 and available up to 0.10: a hit rate and no counters of hits, requests swapped to the host.
    engine: "vllm",
    prefixes: vllmPrefixes,
    versions: { before: "0.11" },
    marks: ["num_requests_swapped", "cpu_cache_usage_perc", "gpu_prefix_cache_hit_rate"],
    series: vllmSeries,
    canonicalMetrics: {
      ...vllmMetrics,
      kvUse: [{ name: "gpu_cache_usage_perc" }],
      itlSeconds: [{ name: "time_per_output_token_seconds" }],
      queueSeconds: [...vllmMetrics.queueSeconds, { name: "time_in_queue_requests" }],
    },
  },
];

/**
 * SGLang (`metrics_collector.py`; `sglang_` is the prefix in exporters without colons). Ranks of a tensor- or pipeline-parallel group
 * repeat one value; with attention in data parallel groups the second group begins at tp_rank 2, not at 0, so it is the lowest rank of each
 * that counts. priority="" is the aggregate of the other parts. dp_rank is summed.
 */
const sglangSeries = { lowestOf: ["tp_rank", "pp_rank", "moe_ep_rank"], largestOf: ["pid"], aggregate: { priority: "" } };
const sglangPrefixes = ["sglang:", "sglang_"];

const sglangMetrics = {
  running: [{ name: "num_running_reqs" }],
  waiting: [{ name: "num_queue_reqs" }],
  kvUse: [{ name: "token_usage" }],
  promptTokens: [{ name: "prompt_tokens_total" }],
  generationTokens: [{ name: "generation_tokens_total" }],
  prefixQueries: [{ name: "prompt_tokens_total" }],
  answered: [{ name: "num_requests_total" }],
  ttftSeconds: [{ name: "time_to_first_token_seconds" }],
  endToEndSeconds: [{ name: "e2e_request_latency_seconds" }],
} satisfies EngineRow["canonicalMetrics"];

const sglang: readonly EngineRow[] = [
  {
    engine: "sglang",
    prefixes: sglangPrefixes,
    marks: ["max_total_num_tokens", "inter_token_latency_seconds_count", "queue_time_seconds_count"],
    series: sglangSeries,
    canonicalMetrics: {
      ...sglangMetrics,
      kvCapacityTokens: [
        { name: "max_total_num_tokens" },
        { name: "num_pages", times: { name: "page_size" } },
        { name: "cache_config_info", labels: ["page_size", "num_pages"] },
      ],
      preemptions: [{ name: "num_retracted_requests_total" }],
      prefixHits: [{ name: "cached_tokens_total" }],
      tpotSeconds: [{ name: "request_time_per_output_token_seconds" }],
      itlSeconds: [{ name: "inter_token_latency_seconds" }],
      queueSeconds: [{ name: "queue_time_seconds" }],
    },
  },
  {
    // Early releases count every gap under another name and export neither the cache's size nor retractions nor time in the queue.
    engine: "sglang",
    prefixes: sglangPrefixes,
    marks: ["time_per_output_token_seconds_count"],
    series: sglangSeries,
    canonicalMetrics: {
      ...sglangMetrics,
      prefixHits: [{ name: "cached_tokens_total" }],
      itlSeconds: [{ name: "time_per_output_token_seconds" }],
    },
  },
];

/** text-generation-inference (docs/source/reference/metrics.md): tokens are sums of histograms, and there is no metric of the KV cache. */
const tgi: EngineRow = {
  engine: "tgi",
  prefixes: ["tgi_"],
  canonicalMetrics: {
    running: [{ name: "batch_current_size" }],
    waiting: [{ name: "queue_size" }],
    promptTokens: [{ name: "request_input_length_sum" }],
    generationTokens: [{ name: "request_generated_tokens_sum" }],
    answered: [{ name: "request_success" }, { name: "request_success_total" }],
    tpotSeconds: [{ name: "request_mean_time_per_token_duration" }],
    endToEndSeconds: [{ name: "request_duration" }],
    queueSeconds: [{ name: "request_queue_duration" }],
  },
};

/** trtllm-serve (`tensorrt_llm/metrics/collector.py`), whose Prometheus text is under /prometheus/metrics. */
const trtllmServe: EngineRow = {
  engine: "trtllm-serve",
  prefixes: ["trtllm_"],
  canonicalMetrics: {
    running: [{ name: "num_requests_running" }],
    waiting: [{ name: "num_requests_waiting" }],
    kvUse: [{ name: "kv_cache_utilization" }],
    kvCapacityTokens: [{ name: "kv_cache_max_blocks", times: { name: "kv_cache_tokens_per_block" } }],
    promptTokens: [{ name: "prompt_tokens_total" }],
    generationTokens: [{ name: "generation_tokens_total" }],
    prefixQueries: [{ name: "prompt_tokens_total" }],
    prefixHits: [{ name: "prompt_cached_tokens_total" }],
    answered: [{ name: "request_success_total", except: { finished_reason: ["abort", "error", "cancelled"] } }],
    ttftSeconds: [{ name: "time_to_first_token_seconds" }],
    tpotSeconds: [{ name: "time_per_output_token_seconds" }],
    endToEndSeconds: [{ name: "e2e_request_latency_seconds" }],
    queueSeconds: [{ name: "request_queue_time_seconds" }],
  },
};

/** Triton with the TensorRT-LLM backend: requests of its batch manager, answers of Triton itself. Its times are sums, not histograms. */
const blocks = (kind: string) => ({ name: "trt_llm_kv_cache_block_metrics", only: { kv_cache_block_type: [kind] } });
const successes = { name: "inference_request_success" };
const triton: EngineRow = {
  engine: "triton-tensorrt-llm",
  prefixes: ["nv_"],
  // Triton writes nv_ for every model, and so do other programs.
  sign: "trt_llm_",
  canonicalMetrics: {
    running: [{ name: "trt_llm_request_metrics", only: { request_type: ["scheduled"] } }],
    waiting: [{ name: "trt_llm_request_metrics", only: { request_type: ["waiting"] } }],
    kvUse: [blocks("fraction"), { ...blocks("used"), of: blocks("max") }],
    kvCapacityTokens: [{ ...blocks("max"), times: blocks("tokens_per") }],
    // An ensemble counts a request again in each of its models.
    answered: [...["ensemble", "tensorrt_llm"].map((model) => ({ ...successes, only: { model: [model] } })), successes],
  },
};

/** llama.cpp's server counts a prompt's tokens without those in its cache. */
const llamaCppMetrics = {
  running: [{ name: "requests_processing" }],
  waiting: [{ name: "requests_deferred" }],
  promptTokens: [{ name: "prompt_tokens_total", plus: { name: "prompt_tokens_cached_total" } }],
  generationTokens: [{ name: "tokens_predicted_total" }],
} satisfies EngineRow["canonicalMetrics"];
const llamaCpp: readonly EngineRow[] = [
  {
    engine: "llama.cpp",
    prefixes: ["llamacpp:"],
    canonicalMetrics: {
      ...llamaCppMetrics,
      prefixQueries: [{ name: "prompt_tokens_total", plus: { name: "prompt_tokens_cached_total" } }],
      prefixHits: [{ name: "prompt_tokens_cached_total" }],
    },
  },
  {
    // Builds before the caches were unified.
    engine: "llama.cpp",
    prefixes: ["llamacpp:"],
    marks: ["kv_cache_usage_ratio"],
    canonicalMetrics: { ...llamaCppMetrics, kvUse: [{ name: "kv_cache_usage_ratio" }] },
  },
];

/** Weir's real engine on processors (`server/llamaEngine`), which has no prefix cache and never preempts. */
const weirEngine: EngineRow = {
  engine: "weir-engine",
  prefixes: ["weir_engine_"],
  canonicalMetrics: {
    running: [{ name: "requests_running" }],
    waiting: [{ name: "requests_waiting" }],
    kvUse: [{ name: "kv_cache_use_ratio" }],
    kvCapacityTokens: [{ name: "kv_cache_tokens" }],
    promptTokens: [{ name: "prompt_tokens_total" }],
    generationTokens: [{ name: "generation_tokens_total" }],
    answered: [{ name: "requests_finished_total", only: { reason: ["stop", "length"] } }],
    ttftSeconds: [{ name: "time_to_first_token_seconds" }],
    tpotSeconds: [{ name: "time_per_output_token_seconds" }],
    itlSeconds: [{ name: "inter_token_seconds" }],
    endToEndSeconds: [{ name: "request_seconds" }],
    queueSeconds: [{ name: "queue_seconds" }],
  },
};

/** Weir's own gateway, which is in front of engines and has no KV cache. Its times are in engine seconds. */
const tokens = (direction: string) => [{ name: "tokens_total", only: { direction: [direction] } }];
const weirGateway: EngineRow = {
  engine: "weir-gateway",
  prefixes: ["weir_gateway_"],
  canonicalMetrics: {
    running: [{ name: "in_flight" }],
    waiting: [{ name: "queued" }],
    promptTokens: tokens("input"),
    generationTokens: tokens("output"),
    answered: [{ name: "requests_total", only: { status: ["200"] } }],
    ttftSeconds: [{ name: "time_to_first_token_seconds" }],
    tpotSeconds: [{ name: "time_per_output_token_seconds" }],
    endToEndSeconds: [{ name: "request_seconds" }],
    queueSeconds: [{ name: "queue_seconds" }],
  },
};

/** The judge of the real models (`server/confidenceJudge`), which counts judgements and has no cache of its own. */
const weirJudge: EngineRow = {
  engine: "weir-judge",
  prefixes: ["weir_judge_"],
  canonicalMetrics: { answered: [{ name: "requests_total" }] },
};

/** Engines in use, the newest names first within a type. trtllm-serve and Triton are read but were never tested with real engines. */
export const engineRows: readonly EngineRow[] = [
  ...vllm,
  ...sglang,
  tgi,
  trtllmServe,
  triton,
  ...llamaCpp,
  weirEngine,
  weirGateway,
  weirJudge,
];

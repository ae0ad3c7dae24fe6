import type { PromText } from "./promText";

/** How one notion is read from an exposition: a name and which of its series count. */
export interface Notion {
  readonly name: string;
  /** Several series (data-parallel ranks, processes) become one value. */
  readonly combine: "sum" | "max";
  /** A series that has this label counts only with one of these values; a series without the label counts. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
  /** A series with one of these values does not count. */
  readonly except?: Readonly<Record<string, readonly string[]>>;
}

/** What Weir wants to know of an engine, whatever its type. `null`: this engine has no such metric. */
export interface EngineNotions {
  readonly running: Notion;
  readonly waiting: Notion;
  /** Share of the KV cache in use, 0..1. */
  readonly kvUse: Notion | null;
  /** Counter of requests answered; aborted ones do not count. */
  readonly finished: Notion | null;
  readonly promptTokens: Notion | null;
  readonly generationTokens: Notion | null;
  /** Histograms, by their base name, in seconds. */
  readonly ttftSeconds: Notion | null;
  readonly endToEndSeconds: Notion | null;
}

/** The metric names of one engine type in a range of its versions. */
export interface EngineMapping {
  readonly engine: string;
  /** Every metric of the engine starts with it. */
  readonly prefix: string;
  /** First version with these names and first version without them; null is open. */
  readonly versions: { readonly from: string | null; readonly before: string | null };
  readonly notions: EngineNotions;
}

const sum = (name: string): Notion => ({ name, combine: "sum" });

/**
 * vLLM: data-parallel ranks come as `engine` series and add up. KV use is the fullest rank, which also survives the
 * releases that wrote the gauge once per process, all but one of them 0 (vllm-project/vllm PR 28792).
 */
const vllm = (prefix: string, kvUse: string): EngineNotions => ({
  running: sum(`${prefix}num_requests_running`),
  waiting: sum(`${prefix}num_requests_waiting`),
  kvUse: { name: `${prefix}${kvUse}`, combine: "max" },
  finished: { name: `${prefix}request_success_total`, combine: "sum", except: { finished_reason: ["abort"] } },
  promptTokens: sum(`${prefix}prompt_tokens_total`),
  generationTokens: sum(`${prefix}generation_tokens_total`),
  ttftSeconds: sum(`${prefix}time_to_first_token_seconds`),
  endToEndSeconds: sum(`${prefix}e2e_request_latency_seconds`),
});

/** SGLang: tensor- and pipeline-parallel ranks repeat one value, and priority="" is the aggregate beside its parts. */
const SGLANG_SERIES = { tp_rank: ["0"], pp_rank: ["0"], priority: [""] };
const sglang = (name: string): Notion => ({ name: `sglang:${name}`, combine: "sum", only: SGLANG_SERIES });

/**
 * The mapping tables, newest version first within an engine type. vLLM: kv_cache_usage_perc came in 0.9.2 beside
 * gpu_cache_usage_perc, which was hidden in 0.11 and removed in 0.12. The other types are read but not yet run against.
 */
export const engineMappings: readonly EngineMapping[] = [
  { engine: "vllm", prefix: "vllm:", versions: { from: "0.9.2", before: null }, notions: vllm("vllm:", "kv_cache_usage_perc") },
  { engine: "vllm", prefix: "vllm:", versions: { from: null, before: "0.9.2" }, notions: vllm("vllm:", "gpu_cache_usage_perc") },
  // Ray Serve exports the engine's metrics again under its own prefix; its versions are Ray's.
  { engine: "ray-vllm", prefix: "ray_vllm:", versions: { from: null, before: null }, notions: vllm("ray_vllm:", "kv_cache_usage_perc") },
  { engine: "ray-vllm", prefix: "ray_vllm:", versions: { from: null, before: null }, notions: vllm("ray_vllm:", "gpu_cache_usage_perc") },
  {
    engine: "sglang",
    prefix: "sglang:",
    versions: { from: null, before: null },
    notions: {
      running: sglang("num_running_reqs"),
      waiting: sglang("num_queue_reqs"),
      kvUse: { name: "sglang:token_usage", combine: "max", only: SGLANG_SERIES },
      finished: sglang("num_requests_total"),
      promptTokens: sglang("prompt_tokens_total"),
      generationTokens: sglang("generation_tokens_total"),
      ttftSeconds: sglang("time_to_first_token_seconds"),
      endToEndSeconds: sglang("e2e_request_latency_seconds"),
    },
  },
  {
    engine: "trtllm-serve",
    prefix: "trtllm_",
    versions: { from: null, before: null },
    notions: {
      running: sum("trtllm_num_requests_running"),
      waiting: sum("trtllm_num_requests_waiting"),
      kvUse: { name: "trtllm_kv_cache_utilization", combine: "max" },
      finished: sum("trtllm_request_success_total"),
      promptTokens: null,
      generationTokens: null,
      ttftSeconds: sum("trtllm_time_to_first_token_seconds"),
      endToEndSeconds: sum("trtllm_e2e_request_latency_seconds"),
    },
  },
  {
    engine: "triton-tensorrt-llm",
    prefix: "nv_trt_llm_",
    versions: { from: null, before: null },
    notions: {
      running: { name: "nv_trt_llm_request_metrics", combine: "sum", only: { request_type: ["scheduled"] } },
      waiting: { name: "nv_trt_llm_request_metrics", combine: "sum", only: { request_type: ["waiting"] } },
      kvUse: { name: "nv_trt_llm_kv_cache_block_metrics", combine: "max", only: { kv_cache_block_type: ["fraction"] } },
      finished: null,
      promptTokens: null,
      generationTokens: null,
      ttftSeconds: null,
      endToEndSeconds: null,
    },
  },
];

/**
 * Chooses the table for an exposition: by the prefix of its names, then by the engine's version where that is known, else
 * by which KV gauge is there.
 *
 * @param version what the engine's `/version` says, null when it does not tell.
 * @returns undefined when no known engine writes such names.
 */
export function chooseMapping(metrics: PromText, version: string | null): EngineMapping | undefined {
  const names = [...metrics.byName.keys()];
  const rows = engineMappings.filter((row) => names.some((name) => name.startsWith(row.prefix)));
  const present = rows.find((row) => row.notions.kvUse !== null && metrics.byName.has(row.notions.kvUse.name));
  const dated = version === null ? undefined : rows.find((row) => isWithin(version, row.versions));
  // The name that is there wins over the version: builds carry backports and odd version texts.
  return present ?? dated ?? rows[0];
}

function isWithin(version: string, range: EngineMapping["versions"]): boolean {
  return (
    (range.from === null || compareVersions(version, range.from) >= 0) &&
    (range.before === null || compareVersions(version, range.before) < 0)
  );
}

/** Compares the numbers of two versions; suffixes such as `.post1` or `+cu128` do not count. */
function compareVersions(left: string, right: string): number {
  const numbers = (version: string) => (/\d+(\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);
  const [a, b] = [numbers(left), numbers(right)];
  for (let at = 0; at < 3; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

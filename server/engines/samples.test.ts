import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseMapping } from "./chooseMapping";
import { type CanonicalMetric, canonicalMetricNames } from "./engineMapping";
import { type PromText, parsePromText } from "./promText";
import { type MetricReadings, readCanonicalMetrics } from "./readCanonicalMetrics";

const samplesFolder = join(import.meta.dirname, "../../../shared/data/metrics");

/** The observations of a histogram, and the number of its buckets. */
const observed = (count: number, buckets: number) => ({ count, buckets });
const used = (max: number, mean = max) => ({ max, mean });
const bucket = (name: string) => `${name}_bucket{le="+Inf"}`;

/** Names that are looked for where a metric is absent. */
const vllm = (prefix: string): Readonly<Record<CanonicalMetric, string>> => ({
  running: `${prefix}num_requests_running`,
  waiting: `${prefix}num_requests_waiting`,
  kvUse: `${prefix}kv_cache_usage_perc`,
  kvCapacityTokens: `${prefix}cache_config_info`,
  preemptions: `${prefix}num_preemptions_total`,
  promptTokens: `${prefix}prompt_tokens_total`,
  generationTokens: `${prefix}generation_tokens_total`,
  prefixQueries: `${prefix}prefix_cache_queries_total`,
  prefixHits: `${prefix}prefix_cache_hits_total`,
  answered: `${prefix}request_success_total`,
  ttftSeconds: bucket(`${prefix}time_to_first_token_seconds`),
  tpotSeconds: bucket(`${prefix}request_time_per_output_token_seconds`),
  itlSeconds: bucket(`${prefix}inter_token_latency_seconds`),
  endToEndSeconds: bucket(`${prefix}e2e_request_latency_seconds`),
  queueSeconds: bucket(`${prefix}request_queue_time_seconds`),
  sleepState: `${prefix}engine_sleep_state`,
});

const sglang: Partial<Record<CanonicalMetric, string>> = {
  waiting: "sglang:num_queue_reqs",
  kvUse: "sglang:token_usage",
  kvCapacityTokens: "sglang:max_total_num_tokens",
  preemptions: "sglang:num_retracted_requests_total",
  promptTokens: "sglang:prompt_tokens_total",
  generationTokens: "sglang:generation_tokens_total",
  prefixQueries: "sglang:prompt_tokens_total",
  prefixHits: "sglang:cached_tokens_total",
  answered: "sglang:num_requests_total",
  ttftSeconds: bucket("sglang:time_to_first_token_seconds"),
  tpotSeconds: bucket("sglang:request_time_per_output_token_seconds"),
  itlSeconds: bucket("sglang:inter_token_latency_seconds"),
  endToEndSeconds: bucket("sglang:e2e_request_latency_seconds"),
  queueSeconds: bucket("sglang:queue_time_seconds"),
};

interface Expected {
  readonly engine: string;
  readonly values: Partial<Record<CanonicalMetric, unknown>>;
  /** By the name that was looked for; every metric of `names` without a value. */
  readonly absent: Partial<Record<CanonicalMetric, string>>;
  readonly notApplicable: readonly CanonicalMetric[];
}

/** `absent` is every name of the engine except those of the canonicalMetrics that have a value or cannot have one. */
const reads = (
  engine: string,
  names: Partial<Record<CanonicalMetric, string>>,
  values: Expected["values"],
  notApplicable: readonly CanonicalMetric[] = [],
): Expected => ({
  engine,
  values,
  absent: Object.fromEntries(
    Object.entries(names).filter(([name]) => !(name in values) && !notApplicable.includes(name as CanonicalMetric)),
  ),
  notApplicable,
});

/** The expected value of each metric of each captured exposition; determined from the files, not by the code. */
const expositions: Readonly<Record<string, Expected | "no engine">> = {
  "dcgm-exporter-l40s.prom": "no engine",
  "llamacpp.prom": reads(
    "llama.cpp",
    {},
    { running: 3, waiting: 0, promptTokens: 207_179, generationTokens: 1426, prefixQueries: 207_179, prefixHits: 129_725 },
    [
      "kvUse",
      "kvCapacityTokens",
      "preemptions",
      "answered",
      "ttftSeconds",
      "tpotSeconds",
      "itlSeconds",
      "endToEndSeconds",
      "queueSeconds",
      "sleepState",
    ],
  ),
  "ray_vllm-2.32-excerpt.prom": reads(
    "vllm",
    { ...vllm("ray_vllm:"), itlSeconds: bucket("ray_vllm:time_per_output_token_seconds") },
    { running: 0, waiting: 0, kvUse: used(5.882698982295764e-5), promptTokens: 58, generationTokens: 300 },
    ["prefixQueries", "prefixHits", "tpotSeconds", "sleepState"],
  ),
  "sglang-0.5.10-datadog.prom": reads(
    "sglang",
    sglang,
    {
      running: 0,
      waiting: 0,
      kvUse: used(0.25),
      kvCapacityTokens: 430_839,
      promptTokens: 5,
      generationTokens: 32,
      prefixQueries: 5,
      prefixHits: 1,
      answered: 1,
      ttftSeconds: observed(1, 2),
      itlSeconds: observed(31, 2),
      endToEndSeconds: observed(1, 2),
      queueSeconds: observed(1, 2),
    },
    ["sleepState"],
  ),
  "sglang-docs.prom": reads(
    "sglang",
    sglang,
    {
      running: 162,
      waiting: 2826,
      kvUse: used(0.28),
      promptTokens: 8_128_902,
      generationTokens: 7_557_572,
      prefixQueries: 8_128_902,
      ttftSeconds: observed(11_008, 21),
      itlSeconds: observed(7_400_757, 19),
      endToEndSeconds: observed(11_228, 16),
    },
    ["kvCapacityTokens", "preemptions", "tpotSeconds", "queueSeconds", "sleepState"],
  ),
  "sglang-main-labels.prom": reads("sglang", sglang, { running: 3 }, ["sleepState"]),
  "tgi-thirdparty.prom": reads(
    "tgi",
    {
      promptTokens: "tgi_request_input_length_sum",
      generationTokens: "tgi_request_generated_tokens_sum",
      answered: "tgi_request_success",
      tpotSeconds: bucket("tgi_request_mean_time_per_token_duration"),
      endToEndSeconds: bucket("tgi_request_duration"),
      // The fixture has its sum and count, and no buckets.
      queueSeconds: bucket("tgi_request_queue_duration"),
    },
    { running: 1, waiting: 2 },
    ["kvUse", "kvCapacityTokens", "preemptions", "prefixQueries", "prefixHits", "ttftSeconds", "itlSeconds", "sleepState"],
  ),
  "triton-trtllm.prom": reads(
    "triton-tensorrt-llm",
    {
      kvUse: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction"}',
      kvCapacityTokens: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max"}',
      answered: 'nv_inference_request_success{model="ensemble"}',
    },
    { running: 1, waiting: 1 },
    [
      "preemptions",
      "promptTokens",
      "generationTokens",
      "prefixQueries",
      "prefixHits",
      "ttftSeconds",
      "tpotSeconds",
      "itlSeconds",
      "endToEndSeconds",
      "queueSeconds",
      "sleepState",
    ],
  ),
  "trtllm-serve-thirdparty.prom": reads(
    "trtllm-serve",
    {
      running: "trtllm_num_requests_running",
      waiting: "trtllm_num_requests_waiting",
      kvCapacityTokens: "trtllm_kv_cache_max_blocks",
      promptTokens: "trtllm_prompt_tokens_total",
      generationTokens: "trtllm_generation_tokens_total",
      prefixQueries: "trtllm_prompt_tokens_total",
      prefixHits: "trtllm_prompt_cached_tokens_total",
      // The fixture has three buckets, not the open one, and no count.
      ttftSeconds: bucket("trtllm_time_to_first_token_seconds"),
      tpotSeconds: bucket("trtllm_time_per_output_token_seconds"),
      endToEndSeconds: bucket("trtllm_e2e_request_latency_seconds"),
      queueSeconds: bucket("trtllm_request_queue_time_seconds"),
    },
    { kvUse: used(0.62), answered: 100 },
    ["preemptions", "itlSeconds", "sleepState"],
  ),
  "vllm-0.10.0-transition.prom": reads("vllm", vllm("vllm:"), { kvUse: used(9.75010481363281e-6), prefixQueries: 32, prefixHits: 0 }),
  "vllm-0.27.1-live.prom": reads("vllm", vllm("vllm:"), { running: 1, waiting: 0, kvUse: used(0.42) }),
  "vllm-datadog-hybrid.prom": reads("vllm", vllm("vllm:"), {
    running: 0,
    waiting: 0,
    kvUse: used(0),
    kvCapacityTokens: 116_496,
    preemptions: 0,
    promptTokens: 5,
    generationTokens: 7,
    prefixQueries: 117,
    prefixHits: 64,
    answered: 1,
    ttftSeconds: observed(1, 17),
    tpotSeconds: observed(6, 2),
    itlSeconds: observed(144, 3),
    endToEndSeconds: observed(1, 11),
    queueSeconds: observed(6, 2),
    sleepState: "awake",
  }),
  "vllm-docs-design.prom": reads("vllm", vllm("vllm:"), {
    running: 8,
    generationTokens: 27_453,
    answered: 132,
    // Eight buckets; the open one is missing and its count is read from `_count`.
    ttftSeconds: observed(140, 9),
  }),
  "vllm-dp2-0.30-shape.prom": reads("vllm", vllm("vllm:"), {
    running: 21,
    waiting: 3,
    kvUse: used(0.5, 0.375),
    preemptions: 3,
    promptTokens: 153_600,
    generationTokens: 38_400,
  }),
  "vllm-multiproc-pid.prom": reads("vllm", vllm("vllm:"), { kvUse: used(0.6530455880475035) }),
  "vllm-openmetrics-type-names.prom": reads("vllm", vllm("vllm:"), {
    promptTokens: 10,
    generationTokens: 7,
    answered: 3,
  }),
  "vllm-v1-idle.prom": reads("vllm", vllm("vllm:"), {
    running: 0,
    waiting: 0,
    kvUse: used(0),
    preemptions: 0,
    promptTokens: 0,
    generationTokens: 0,
    prefixQueries: 0,
    prefixHits: 0,
  }),
};

/** Files that are no expositions: unreadable lines, and lines that still look like samples. */
const otherFiles: Readonly<Record<string, { readonly bad: number; readonly samples: number }>> = {
  "llamacpp-slots-props-shape.txt": { bad: 3, samples: 0 },
  "nvidia-smi-query.csv": { bad: 3, samples: 0 },
  "sglang-v1-loads.json": { bad: 1, samples: 0 },
  // Lines out of tests: three with escaped quotes around values, one without a value, two with %d for one.
  "sim-test-lines.txt": { bad: 6, samples: 17 },
  "vllm-docs-extra-lines.txt": { bad: 1, samples: 1 },
};

/** A reading in the form of the table. */
function shown(reading: MetricReadings[CanonicalMetric]): unknown {
  if (reading.state !== "value") return reading;
  if (typeof reading.value !== "object" || !("bounds" in reading.value)) return { state: "value", value: reading.value };
  const { bounds, cumulative } = reading.value as { readonly bounds: readonly number[]; readonly cumulative: readonly number[] };
  expect(bounds.at(-1)).toBe(Number.POSITIVE_INFINITY);
  return { state: "value", value: observed(cumulative.at(-1) ?? Number.NaN, bounds.length) };
}

const sampleCount = ({ byName }: PromText): number => [...byName.values()].reduce((count, samples) => count + samples.length, 0);

describe("captured metrics of engines", () => {
  if (!existsSync(samplesFolder)) {
    it("are not read where there are none", () => console.warn(`${samplesFolder} is missing: no captured metrics were read`));
    return;
  }

  it("are all in one of the two tables", () => {
    expect(readdirSync(samplesFolder).sort()).toEqual([...Object.keys(expositions), ...Object.keys(otherFiles)].sort());
  });

  it.each(Object.entries(expositions))("read in %s as the table says, metric by metric", (file, expected) => {
    const metrics = parsePromText(readFileSync(join(samplesFolder, file), "utf8"));
    expect(metrics.bad).toEqual([]);
    const mapping = chooseMapping(metrics, null);
    if (expected === "no engine" || mapping === undefined) {
      expect(mapping?.engine ?? "no engine").toBe(expected);
      return;
    }
    const readings = readCanonicalMetrics(metrics, mapping);
    const table = canonicalMetricNames.map((name) => {
      if (name in expected.values) return [name, { state: "value", value: expected.values[name] }];
      if (expected.notApplicable.includes(name)) return [name, { state: "not-applicable" }];
      return [name, { state: "absent", lookedFor: expected.absent[name] }];
    });
    expect(mapping.engine).toBe(expected.engine);
    expect(Object.fromEntries(canonicalMetricNames.map((name) => [name, shown(readings[name])]))).toEqual(Object.fromEntries(table));
  });

  it.each(Object.entries(otherFiles))("are not in %s, which is survived", (file, expected) => {
    const metrics = parsePromText(readFileSync(join(samplesFolder, file), "utf8"));
    expect({ bad: metrics.badLines, samples: sampleCount(metrics) }).toEqual(expected);
  });
});

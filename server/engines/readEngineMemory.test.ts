import { describe, expect, it } from "vitest";
import { readEngineMemory } from "./readEngineMemory";

describe("how full an engine's KV cache is", () => {
  const kvUse = (text: string) => readEngineMemory(text).kvUse;

  it("is read under the name that the engine's version gives it", () => {
    expect(kvUse('vllm:kv_cache_usage_perc{model_name="m"} 0.25\n')).toEqual({ found: true, value: 0.25 });
    expect(kvUse('# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc{model_name="m"} 0.5\n')).toEqual({
      found: true,
      value: 0.5,
    });
    expect(kvUse("trtllm_kv_cache_utilization 0.62")).toEqual({ found: true, value: 0.62 });
  });

  it("is that of the fullest rank where there are several", () => {
    const text = 'vllm:kv_cache_usage_perc{engine="0"} 0.1\nvllm:kv_cache_usage_perc{engine="1"} 0.9\n';
    expect(kvUse(text)).toEqual({ found: true, value: 0.9 });
  });

  it("is absent, never zero, where the name is missing or holds no number, and says which name that is", () => {
    expect(kvUse("vllm:num_requests_running 3\nvllm:kv_cache_usage_percent 0.3\n")).toEqual({
      found: false,
      lookedFor: "vllm:kv_cache_usage_perc",
    });
    expect(kvUse("vllm:kv_cache_usage_perc NaN\n")).toEqual({ found: false, lookedFor: "vllm:kv_cache_usage_perc" });
    expect(kvUse("llamacpp:requests_processing 1\n")).toEqual({ found: false, lookedFor: "a KV metric of a known engine type" });
    expect(kvUse("up 1\n")).toEqual({ found: false, lookedFor: "a KV metric of a known engine type" });
  });
});

describe("how many tokens an engine's KV cache holds", () => {
  const kvTokens = (text: string) => readEngineMemory(text).kvTokens;

  it("is the blocks times the size of one, or what the engine says, of all ranks together", () => {
    const rank = (engine: number) => `vllm:cache_config_info{block_size="16",engine="${engine}",num_gpu_blocks="1000"} 1.0\n`;
    expect(kvTokens(rank(0))).toEqual({ found: true, value: 16_000 });
    expect(kvTokens(rank(0) + rank(1))).toEqual({ found: true, value: 32_000 });
    expect(kvTokens('sglang:max_total_num_tokens{model_name="m",tp_rank="0"} 120000\n')).toEqual({ found: true, value: 120_000 });
    expect(kvTokens("trtllm_kv_cache_max_blocks 100\ntrtllm_kv_cache_tokens_per_block 32\n")).toEqual({ found: true, value: 3200 });
  });

  it("is absent where the engine has not laid its cache out yet, or tells nothing of it", () => {
    const lookedFor = "vllm:cache_config_info";
    expect(kvTokens('vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1.0\n')).toEqual({ found: false, lookedFor });
    expect(kvTokens('vllm:cache_config_info{block_size="16",num_gpu_blocks="0"} 1.0\n').found).toBe(false);
    expect(kvTokens("vllm:kv_cache_usage_perc 0.2\n")).toEqual({ found: false, lookedFor });
    expect(kvTokens("tgi_queue_size 1\n")).toEqual({ found: false, lookedFor: "the size of a KV cache of a known engine type" });
  });
});

describe("how often an engine has preempted requests", () => {
  const preemptions = (text: string) => readEngineMemory(text).preemptions;

  it("is the count of all its ranks, under the name that its type gives it", () => {
    const text = 'vllm:num_preemptions_total{engine="0"} 3.0\nvllm:num_preemptions_total{engine="1"} 4.0\n';
    expect(preemptions(text)).toMatchObject({ found: true, value: { count: 7 } });
    expect(preemptions("sglang:max_total_num_tokens 9\nsglang:num_retracted_requests_total 2.0\n")).toMatchObject({
      found: true,
      value: { count: 2 },
    });
  });

  it("tells the count of other ranks apart, in whatever order they are written", () => {
    const [zero, one] = ['vllm:num_preemptions_total{engine="0"} 3.0\n', 'vllm:num_preemptions_total{engine="1"} 3.0\n'];
    const series = [zero, one, zero + one, one + zero].map((text) => {
      const read = preemptions(text);
      return read.found ? read.value.series : null;
    });
    expect(series[2]).toBe(series[3]);
    expect(new Set(series).size).toBe(3);
  });

  it("is absent, never zero, where the engine does not count them", () => {
    expect(preemptions("vllm:kv_cache_usage_perc 0.2\n")).toEqual({ found: false, lookedFor: "vllm:num_preemptions_total" });
    const none = { found: false, lookedFor: "a count of preemptions of a known engine type" };
    expect(preemptions("trtllm_kv_cache_utilization 0.62\n")).toEqual(none);
    expect(preemptions("up 1\n")).toEqual(none);
  });
});

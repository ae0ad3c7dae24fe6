import { describe, expect, it } from "vitest";
import { readKvUse } from "./readKvUse";

describe("how full an engine's KV cache is", () => {
  it("is read under the name that the engine's version gives it", () => {
    expect(readKvUse('vllm:kv_cache_usage_perc{model_name="m"} 0.25\n')).toEqual({ found: true, value: 0.25 });
    expect(readKvUse('# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc{model_name="m"} 0.5\n')).toEqual({
      found: true,
      value: 0.5,
    });
    expect(readKvUse("trtllm_kv_cache_utilization 0.62")).toEqual({ found: true, value: 0.62 });
  });

  it("is that of the fullest rank where there are several", () => {
    const text = 'vllm:kv_cache_usage_perc{engine="0"} 0.1\nvllm:kv_cache_usage_perc{engine="1"} 0.9\n';
    expect(readKvUse(text)).toEqual({ found: true, value: 0.9 });
  });

  it("is absent, never zero, where the name is missing or holds no number, and says which name that is", () => {
    expect(readKvUse("vllm:num_requests_running 3\nvllm:kv_cache_usage_percent 0.3\n")).toEqual({
      found: false,
      lookedFor: "vllm:kv_cache_usage_perc",
    });
    expect(readKvUse("vllm:kv_cache_usage_perc NaN\n")).toEqual({ found: false, lookedFor: "vllm:kv_cache_usage_perc" });
    expect(readKvUse("llamacpp:requests_processing 1\n")).toEqual({ found: false, lookedFor: "a KV metric of a known engine type" });
    expect(readKvUse("up 1\n")).toEqual({ found: false, lookedFor: "a KV metric of a known engine type" });
  });
});

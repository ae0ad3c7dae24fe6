import { describe, expect, it } from "vitest";
import { chooseMapping } from "./chooseMapping";
import { engineVersion } from "./engineVersion";
import { parsePromText } from "./promText";
import { readCanonicalMetrics } from "./readCanonicalMetrics";

const chosen = (text: string, version: string | null = null) => {
  const metrics = parsePromText(text);
  const mapping = chooseMapping(metrics, version);
  if (mapping === undefined) return null;
  const { kvUse, prefixHits, itlSeconds, sleepState } = readCanonicalMetrics(metrics, mapping);
  return { engine: mapping.engine, prefix: mapping.prefix, kvUse, prefixHits, itlSeconds, sleepState, versions: mapping.versions };
};

describe("the mapping of an exposition", () => {
  it.each([
    ["vllm:num_requests_running 1", "vllm", "vllm:"],
    ["ray_vllm:num_requests_running 1", "vllm", "ray_vllm:"],
    ["ray_vllm_num_requests_running 1", "vllm", "ray_vllm_"],
    ["sglang:num_running_reqs 1", "sglang", "sglang:"],
    ["sglang_num_running_reqs 1", "sglang", "sglang_"],
    ["tgi_queue_size 1", "tgi", "tgi_"],
    ["trtllm_num_requests_running 1", "trtllm-serve", "trtllm_"],
    ['nv_trt_llm_request_metrics{request_type="active"} 1', "triton-tensorrt-llm", "nv_"],
    ["llamacpp:requests_processing 1", "llama.cpp", "llamacpp:"],
    ['weir_gateway_in_flight{model="m",replica="r"} 1', "weir-gateway", "weir_gateway_"],
    // Triton with the vLLM backend writes both.
    ["nv_inference_count 1\nvllm:num_requests_running 1", "vllm", "vllm:"],
  ])("is found by the names of %j", (text, engine, prefix) => {
    expect(chosen(`process_open_fds 49\n${text}\n`)).toMatchObject({ engine, prefix });
  });

  it("is none for text that no engine writes", () => {
    expect(chosen("up 1\nvllmish 2\n")).toBeNull();
    // Triton with a model that is no LLM, and unrelated names.
    expect(chosen('nv_inference_request_success{model="resnet"} 4\nnv_gpu_utilization 0.1\n')).toBeNull();
    expect(chosen("nv_peer_mem_pages 3\n")).toBeNull();
    expect(chosen('{"message":"not found"}')).toBeNull();
    expect(chosen("")).toBeNull();
  });

  it("follows the renames of vLLM's releases", () => {
    const running = "vllm:num_requests_running 1\n";
    const gpuUse = `${running}vllm:gpu_cache_usage_perc 0.7\n`;
    // V0 has a hit rate and no counters of hits.
    expect(chosen(`${gpuUse}vllm:num_requests_swapped 0\n`)).toMatchObject({
      kvUse: { value: { max: 0.7 } },
      prefixHits: { state: "not-applicable" },
      sleepState: { state: "not-applicable" },
    });
    expect(chosen(`${gpuUse}vllm:num_requests_swapped 0\n`, "0.8.5")?.prefixHits).toEqual({ state: "not-applicable" });
    expect(chosen(`${gpuUse}vllm:gpu_prefix_cache_queries_total 9\nvllm:gpu_prefix_cache_hits_total 4\n`)).toMatchObject({
      kvUse: { value: { max: 0.7 } },
      prefixHits: { value: 4 },
    });
    // 0.9.2 to 0.10 write both names.
    expect(chosen(`${gpuUse}vllm:kv_cache_usage_perc 0.6\nvllm:gpu_prefix_cache_hits_total 4\n`)).toMatchObject({
      kvUse: { value: { max: 0.6 } },
      prefixHits: { value: 4 },
    });
    const gaps = (name: string) => `vllm:${name}_bucket{le="+Inf"} 3\nvllm:kv_cache_usage_perc 0\n`;
    expect(chosen(gaps("time_per_output_token_seconds"))).toMatchObject({ itlSeconds: { state: "value" } });
    expect(chosen(gaps("inter_token_latency_seconds"))).toMatchObject({ itlSeconds: { state: "value" } });
  });

  it.each([
    ["0.6.3.post1", null, "0.11"],
    ["0.8.5.post1", "0.8", "0.9.2"],
    ["v0.9.1+cu128", "0.8", "0.9.2"],
    ["0.9.2", "0.9.2", null],
    ["0.10.0", "0.9.2", null],
    ["0.30.0", "0.9.2", null],
    ["dev", "0.9.2", null],
    ["0.1.dev1+g7a3c9f1", "0.9.2", null],
    ["0.1.dev9821+gabcdef0.d20260101.cu128", "0.9.2", null],
    ["0.9.1.dev3+g7a3c9f1", "0.8", "0.9.2"],
    [null, "0.9.2", null],
  ])("goes by version %s where no name tells the releases apart", (version, from, before) => {
    expect(chosen("vllm:num_requests_running 1\n", version)?.versions).toEqual({ from, before });
  });

  it("goes by the name that is there where the version says otherwise", () => {
    expect(chosen("vllm:kv_cache_usage_perc 0.5\n", "0.6.0")?.kvUse).toMatchObject({ value: { max: 0.5 } });
    expect(chosen("vllm:gpu_cache_usage_perc 0.5\n", "0.30.0")?.kvUse).toMatchObject({ value: { max: 0.5 } });
  });

  it("goes by the version where names mark several releases", () => {
    const both = "vllm:num_requests_swapped 0\nvllm:gpu_prefix_cache_queries_total 9\n";
    expect(chosen(both, "0.7.3")?.versions).toEqual({ from: null, before: "0.11" });
    expect(chosen(both, "0.8.5")?.versions).toEqual({ from: "0.8", before: "0.9.2" });
    expect(chosen(`${both}vllm:prefix_cache_queries_total 9\n`, "0.8.5")?.versions).toEqual({ from: "0.8", before: "0.9.2" });
  });

  it("knows llama.cpp's builds with and without a gauge of the KV cache", () => {
    expect(chosen("llamacpp:requests_processing 1\n")?.kvUse).toEqual({ state: "not-applicable" });
    expect(chosen("llamacpp:kv_cache_usage_ratio 0.5\n")?.kvUse).toMatchObject({ value: { max: 0.5 } });
  });

  it("tells Weir's emulator, which has no sleep and no prefix cache, by its version", () => {
    expect(chosen("vllm:kv_cache_usage_perc 0.5\n", "0.30.0+emulated")).toMatchObject({
      engine: "weir-emulator",
      kvUse: { value: { max: 0.5 } },
      sleepState: { state: "not-applicable" },
    });
  });
});

describe("an engine's version", () => {
  it.each([
    ['{"version":"0.30.0"}', "0.30.0"],
    ['{"model_id":"m","version":"3.3.5","sha":null}', "3.3.5"],
    ['{"build_info":"b5402-cdf94a18","total_slots":4}', "b5402-cdf94a18"],
    ['{"detail":"Not Found"}', null],
    ['{"version":5}', null],
    ["<html>", null],
  ])("in %s is %s", (text, version) => {
    expect(engineVersion(text)).toBe(version);
  });
});

import { describe, expect, it } from "vitest";
import { chooseMapping } from "./chooseMapping";
import type { CanonicalMetric } from "./engineMapping";
import { parsePromText } from "./promText";
import { type MetricReadings, readCanonicalMetrics } from "./readCanonicalMetrics";

function read(lines: readonly string[], version: string | null = null): MetricReadings {
  const metrics = parsePromText(lines.join("\n"));
  const mapping = chooseMapping(metrics, version);
  if (metrics.badLines > 0 || mapping === undefined) throw new Error("not an engine's metrics");
  return readCanonicalMetrics(metrics, mapping);
}

const value = (readings: MetricReadings, name: CanonicalMetric): unknown => {
  const reading = readings[name];
  return reading.state === "value" ? reading.value : reading.state;
};

describe("series of one engine", () => {
  it("add up over data-parallel ranks, and for the KV cache give the fullest rank and the mean", () => {
    const readings = read([
      'vllm:num_requests_running{engine="0"} 12',
      'vllm:num_requests_running{engine="1"} 9',
      'vllm:kv_cache_usage_perc{engine="0"} 0.25',
      'vllm:kv_cache_usage_perc{engine="1"} 0.5',
      'vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000"} 1.0',
      'vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="500"} 1.0',
      'vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1"} 1',
      'vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 3',
      'vllm:time_to_first_token_seconds_bucket{engine="1",le="0.1"} 2',
      'vllm:time_to_first_token_seconds_bucket{engine="1",le="+Inf"} 4',
      'vllm:time_to_first_token_seconds_sum{engine="0"} 0.5',
      'vllm:time_to_first_token_seconds_sum{engine="1"} 1.5',
    ]);
    expect(value(readings, "running")).toBe(21);
    expect(value(readings, "kvUse")).toEqual({ max: 0.5, mean: 0.375 });
    expect(value(readings, "kvCapacityTokens")).toBe(24_000);
    expect(value(readings, "ttftSeconds")).toEqual({ bounds: [0.1, Number.POSITIVE_INFINITY], cumulative: [3, 7], sum: 2 });
  });

  it("count once where processes of one rank write them, all but one with 0", () => {
    const text = ["271", "273"].flatMap((pid, at) => [
      `vllm:kv_cache_usage_perc{engine="0",pid="${pid}"} ${at === 0 ? 0.6 : 0}`,
      `vllm:kv_cache_usage_perc{engine="1",pid="${pid}"} ${at === 0 ? 0 : 0.2}`,
      `vllm:num_requests_running{engine="0",pid="${pid}"} ${at === 0 ? 5 : 0}`,
    ]);
    expect(value(read(text), "kvUse")).toEqual({ max: 0.6, mean: 0.4 });
    expect(value(read(text), "running")).toBe(5);
  });

  it("count once where ranks of a tensor-parallel group repeat them, whichever rank the group begins with", () => {
    const series = (tp: number, dp: number, running: number) =>
      `sglang:num_running_reqs{dp_rank="${dp}",moe_ep_rank="${tp}",pp_rank="0",priority="",tp_rank="${tp}"} ${running}`;
    expect(value(read([series(0, 0, 3), series(1, 0, 3), series(2, 1, 4), series(3, 1, 4)]), "running")).toBe(7);
    const other = (tp: number, bound: string, count: number) => `sglang:queue_time_seconds_bucket{le="${bound}",tp_rank="${tp}"} ${count}`;
    expect(value(read([other(1, "+Inf", 9), other(0, "+Inf", 8), other(0, "1", 5)]), "queueSeconds")).toEqual({
      bounds: [1, Number.POSITIVE_INFINITY],
      cumulative: [5, 8],
      sum: null,
    });
  });

  it("are the aggregate where it stands beside its parts, and the sum of the parts where it does not", () => {
    const series = (priority: string, waiting: number) => `sglang:num_queue_reqs{priority="${priority}",tp_rank="0"} ${waiting}`;
    expect(value(read([series("", 6), series("1", 2), series("5", 4)]), "waiting")).toBe(6);
    expect(value(read([series("1", 2), series("5", 4)]), "waiting")).toBe(6);
  });

  it("count once where one series is written twice", () => {
    expect(value(read(['vllm:num_requests_running{engine="0"} 2', 'vllm:num_requests_running{engine="0"} 3']), "running")).toBe(2);
  });

  it("are not what `_created`, waiting by reason and other names beside them say", () => {
    const readings = read([
      "vllm:prompt_tokens_created 1.7e9",
      "vllm:num_requests_waiting 2",
      'vllm:num_requests_waiting_by_reason{reason="capacity"} 2',
    ]);
    expect(value(readings, "waiting")).toBe(2);
    expect(readings.promptTokens).toEqual({ state: "absent", lookedFor: "vllm:prompt_tokens_total" });
  });
});

describe("a metric", () => {
  it("is absent where its metric is not there, holds no number, or not what makes the metric", () => {
    const readings = read([
      "vllm:num_requests_running NaN",
      'vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1',
      'vllm:time_to_first_token_seconds_bucket{le="0.1"} 1',
      'vllm:engine_sleep_state{sleep_state="awake"} 0',
    ]);
    expect(readings.running).toEqual({ state: "absent", lookedFor: "vllm:num_requests_running" });
    expect(value(readings, "kvCapacityTokens")).toBe("absent");
    expect(readings.ttftSeconds).toEqual({ state: "absent", lookedFor: 'vllm:time_to_first_token_seconds_bucket{le="+Inf"}' });
    expect(value(readings, "sleepState")).toBe("absent");
  });

  it("says how an engine sleeps, one of whose ranks does", () => {
    const state = (engine: number, name: string, on: number) => `vllm:engine_sleep_state{engine="${engine}",sleep_state="${name}"} ${on}`;
    const awake = [state(0, "awake", 1), state(0, "discard_all", 0)];
    expect(value(read(awake), "sleepState")).toBe("awake");
    expect(value(read([...awake, state(1, "awake", 0), state(1, "discard_all", 1)]), "sleepState")).toBe("discard_all");
  });

  it("leaves requests that got no answer out of those answered, which are none where all got none", () => {
    const vllm = read(["stop", "abort"].map((reason, at) => `vllm:request_success_total{finished_reason="${reason}"} ${5 - at}`));
    expect(value(vllm, "answered")).toBe(5);
    expect(value(read(['vllm:request_success_total{finished_reason="abort"} 5']), "answered")).toBe(0);
    expect(value(read(['vllm:request_success_total{finished_reason="abort"} NaN']), "answered")).toBe("absent");
    // The label's name in llm-d-inference-sim.
    const sim = read(["length", "abort"].map((reason, at) => `vllm:request_success_total{finish_reason="${reason}"} ${5 - at}`));
    expect(value(sim, "answered")).toBe(5);
    const sglang = read(["sglang:num_requests_total 9", "sglang:num_aborted_requests_total 2"]);
    expect(value(sglang, "answered")).toBe(9);
    const tgi = read(["tgi_request_success 3", 'tgi_request_failure{err="overloaded"} 1', 'tgi_request_failure{err="validation"} 2']);
    expect(value(tgi, "answered")).toBe(3);
  });

  it("counts a request of Triton once, whichever of its models pass it on", () => {
    const sign = 'nv_trt_llm_request_metrics{request_type="active",version="1"} 0';
    const passing = ["preprocessing", "tensorrt_llm", "postprocessing", "ensemble"];
    const through = (models: readonly string[]) =>
      value(
        read([sign, ...models.map((model, at) => `nv_inference_request_success{model="${model}",version="1"} ${10 + at}`)]),
        "answered",
      );
    expect(through(passing)).toBe(13);
    expect(through(passing.slice(0, 3))).toBe(11);
    expect(through(["mine", "other"])).toBe(21);
  });

  it("is the time in the queue under the name that vLLM's V0 gave it, too", () => {
    const bucket = (name: string, count: number) => `vllm:${name}_bucket{le="+Inf"} ${count}`;
    const old = ["vllm:num_requests_swapped 0", bucket("time_in_queue_requests", 3)];
    expect(value(read(old), "queueSeconds")).toMatchObject({ cumulative: [3] });
    expect(value(read([...old, bucket("request_queue_time_seconds", 4)]), "queueSeconds")).toMatchObject({ cumulative: [4] });
  });

  it("has in the open bucket of a histogram that leaves it out what was observed in all", () => {
    const ttft = (end: string) => `vllm:time_to_first_token_seconds_${end}`;
    const whole = value(read([ttft('bucket{le="0.1"} 5'), ttft('bucket{le="0.5"} 7'), ttft("count 9")]), "ttftSeconds");
    expect(whole).toEqual({ bounds: [0.1, 0.5, Number.POSITIVE_INFINITY], cumulative: [5, 7, 9], sum: null });
  });

  it("is absent where ranks have other buckets, as their counts tell nothing of one another", () => {
    const bucket = (engine: number, bound: string, count: number) =>
      `vllm:time_to_first_token_seconds_bucket{engine="${engine}",le="${bound}"} ${count}`;
    const first = [bucket(0, "1", 5), bucket(0, "+Inf", 5)];
    expect(value(read([...first, bucket(1, "2", 3), bucket(1, "+Inf", 3)]), "ttftSeconds")).toBe("absent");
    expect(value(read([...first, bucket(1, "+Inf", 3)]), "ttftSeconds")).toBe("absent");
    const closed = [bucket(0, "1", 5), bucket(1, "2", 3)];
    const counts = [0, 1].map((engine) => `vllm:time_to_first_token_seconds_count{engine="${engine}"} 5`);
    expect(value(read([...closed, ...counts]), "ttftSeconds")).toBe("absent");
  });

  it("has no sum of a histogram one of whose ranks writes none", () => {
    const bucket = (engine: number) => `vllm:time_to_first_token_seconds_bucket{engine="${engine}",le="+Inf"} 2`;
    const readings = read([bucket(0), bucket(1), 'vllm:time_to_first_token_seconds_sum{engine="0"} 1']);
    expect(value(readings, "ttftSeconds")).toMatchObject({ cumulative: [4], sum: null });
  });

  it("tells other series from the same in another order", () => {
    const tokens = (engine: number, count: number) => `vllm:prompt_tokens_total{engine="${engine}"} ${count}`;
    const series = (lines: readonly string[]) => {
      const { promptTokens } = read(lines);
      return promptTokens.state === "value" ? promptTokens.series : null;
    };
    const both = series([tokens(0, 5), tokens(1, 6)]);
    expect(series([tokens(1, 8), tokens(0, 9)])).toBe(both);
    expect(series([tokens(0, 5), tokens(2, 6)])).not.toBe(both);
    expect(series([tokens(0, 5), tokens(1, Number.NaN)])).not.toBe(both);
  });

  it("is made of what each engine type has", () => {
    const triton = read([
      'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per",version="1"} 64',
      'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used",version="1"} 50',
      'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",version="1"} 200',
      'nv_inference_request_success{model="a",version="1"} 4',
    ]);
    expect([value(triton, "kvUse"), value(triton, "kvCapacityTokens"), value(triton, "answered")]).toEqual([
      { max: 0.25, mean: 0.25 },
      12_800,
      4,
    ]);
    const fraction = read(['nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",version="1"} 0.3']);
    expect(value(fraction, "kvUse")).toEqual({ max: 0.3, mean: 0.3 });
    const trtllm = read(["trtllm_kv_cache_max_blocks 100", "trtllm_kv_cache_tokens_per_block 32"]);
    expect(value(trtllm, "kvCapacityTokens")).toBe(3200);
    const sglang = read(['sglang:num_pages{tp_rank="0"} 10', 'sglang:num_pages{tp_rank="1"} 10', 'sglang:page_size{tp_rank="0"} 64']);
    expect(value(sglang, "kvCapacityTokens")).toBe(640);
    const hits = read(['sglang:cached_tokens_total{cache_source="device"} 34', 'sglang:cached_tokens_total{cache_source="host"} 8']);
    expect(value(hits, "prefixHits")).toBe(42);
    // A build of llama.cpp that does not count cached tokens.
    expect(value(read(["llamacpp:prompt_tokens_total 7"]), "promptTokens")).toBe(7);
  });
});

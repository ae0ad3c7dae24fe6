import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readEngine } from "./readEngine";

const SAMPLES = join(import.meta.dirname, "../../../shared/data/metrics");

/** Reads an exposition with the table that is chosen for it. */
function read(text: string, version: string | null = null) {
  const metrics = parsePromText(text);
  const mapping = chooseMapping(metrics, version);
  if (mapping === undefined) throw new Error("no mapping");
  return { engine: mapping.engine, ...readEngine(metrics, mapping) };
}

describe("reading an engine through its mapping", () => {
  it("adds the ranks of a data-parallel vLLM and takes the fullest cache", () => {
    const text = ["running", "waiting"].flatMap((what) => [
      `vllm:num_requests_${what}{engine="0"} 12`,
      `vllm:num_requests_${what}{engine="1"} 9`,
    ]);
    const reading = read([...text, 'vllm:kv_cache_usage_perc{engine="0"} 0.25', 'vllm:kv_cache_usage_perc{engine="1"} 0.5'].join("\n"));
    expect(reading).toMatchObject({ engine: "vllm", running: 21, waiting: 21, kvUse: 0.5 });
  });

  it("says null and names what it looked for where a metric is missing", () => {
    const reading = read('vllm:num_requests_running{engine="0"} 0\n', "0.30.0");
    expect(reading.running).toBe(0);
    expect(reading.waiting).toBeNull();
    expect(reading.kvUse).toBeNull();
    expect(reading.absent).toContain("vllm:kv_cache_usage_perc");
  });

  it("reads the KV gauge of releases before and after its renaming", () => {
    const old = 'vllm:num_requests_running 1\nvllm:gpu_cache_usage_perc{model_name="m"} 0.7\n';
    expect(read(old).kvUse).toBe(0.7);
    expect(read(`${old}vllm:kv_cache_usage_perc{model_name="m"} 0.6\n`).kvUse).toBe(0.6);
  });

  it("uses the version where no KV gauge tells the releases apart", () => {
    const metrics = parsePromText("vllm:num_requests_running 1\n");
    expect(chooseMapping(metrics, "0.8.5.post1")?.versions.before).toBe("0.9.2");
    expect(chooseMapping(metrics, "0.30.0")?.versions.from).toBe("0.9.2");
  });

  it("leaves aborted requests out of the finished ones", () => {
    const text = 'vllm:request_success_total{finished_reason="stop"} 5\nvllm:request_success_total{finished_reason="abort"} 2\n';
    expect(read(text).finished).toBe(5);
  });

  it("does not add SGLang's tensor-parallel ranks or its per-priority series", () => {
    const series = (tp: number, priority: string, value: number) =>
      `sglang:num_running_reqs{tp_rank="${tp}",pp_rank="0",dp_rank="0",priority="${priority}"} ${value}`;
    const text = [series(0, "", 3), series(1, "", 3), series(0, "5", 1), series(0, "", 4).replace('dp_rank="0"', 'dp_rank="1"')];
    expect(read(text.join("\n"))).toMatchObject({ engine: "sglang", running: 7, waiting: null });
  });

  it("merges histograms over ranks, and treats one without its open bucket as absent", () => {
    const bucket = (engine: number, le: string, count: number) =>
      `vllm:time_to_first_token_seconds_bucket{engine="${engine}",le="${le}"} ${count}`;
    const lines = [bucket(0, "0.1", 1), bucket(1, "0.1", 2), bucket(0, "+Inf", 3), bucket(1, "+Inf", 4)];
    expect(read(lines.join("\n")).ttftSeconds).toEqual({ bounds: [0.1, Number.POSITIVE_INFINITY], cumulative: [3, 7] });
    expect(read(lines.slice(0, 2).join("\n")).ttftSeconds).toBeNull();
  });

  it("finds no table for text that no engine writes", () => {
    expect(chooseMapping(parsePromText("up 1\n"), null)).toBeUndefined();
  });

  it.skipIf(!existsSync(SAMPLES)).each([
    ["vllm-dp2-0.30-shape.prom", { engine: "vllm", running: 21, waiting: 3, kvUse: 0.5, promptTokens: 153600 }],
    ["vllm-multiproc-pid.prom", { engine: "vllm", kvUse: 0.6530455880475035, running: null }],
    ["vllm-0.27.1-live.prom", { engine: "vllm", running: 1, waiting: 0, kvUse: 0.42 }],
    ["vllm-openmetrics-type-names.prom", { engine: "vllm", promptTokens: 10, generationTokens: 7, finished: 3 }],
    ["vllm-v1-idle.prom", { engine: "vllm", running: 0, waiting: 0, kvUse: 0 }],
    ["sglang-0.5.10-datadog.prom", { engine: "sglang", running: 0, kvUse: 0.25, promptTokens: 5 }],
    ["sglang-main-labels.prom", { engine: "sglang", running: 3 }],
    ["trtllm-serve-thirdparty.prom", { engine: "trtllm-serve", kvUse: 0.62 }],
    ["triton-trtllm.prom", { engine: "triton-tensorrt-llm", running: 1, waiting: 1 }],
  ])("reads %s (skipped where ../shared/data/metrics is missing)", (file, expected) => {
    expect(read(readFileSync(join(SAMPLES, file), "utf8"))).toMatchObject(expected);
  });
});

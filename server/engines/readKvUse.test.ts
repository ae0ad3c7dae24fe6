import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseMapping } from "./engineMapping";
import { parsePromText } from "./promText";
import { readKvUse } from "./readKvUse";
import { readNumber } from "./readNotion";

const samples = join(import.meta.dirname, "../../../shared/data/metrics");

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
  });

  it("is what the whole exposition says, in every sample", () => {
    if (!existsSync(samples)) return console.warn(`${samples} is missing: no sample was read`);
    const names = readdirSync(samples).filter((name) => name.endsWith(".prom"));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const text = readFileSync(join(samples, name), "utf8");
      const metrics = parsePromText(text);
      const notion = chooseMapping(metrics, null)?.notions.kvUse ?? null;
      const whole = notion === null ? null : readNumber(metrics, notion);
      const read = readKvUse(text);
      expect([name, read.found ? read.value : null]).toEqual([name, whole]);
    }
  });
});

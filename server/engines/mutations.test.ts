import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { chooseMapping } from "./chooseMapping";
import { PromParser } from "./promText";
import { readCanonicalMetrics } from "./readCanonicalMetrics";
import { mutated } from "./testing/testMutations";

const samplesFolder = join(import.meta.dirname, "../../../shared/data/metrics");

const own = [
  `# HELP vllm:num_requests_running Number of requests.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a/b"} 12.0
vllm:num_requests_running{engine="1",model_name="say \\"hi\\", {you}"} 9.0 1710000000000
vllm:kv_cache_usage_perc{engine="0",pid="1"} NaN
vllm:cache_config_info{block_size="16",num_gpu_blocks="7281"} 1.0
vllm:engine_sleep_state{sleep_state="awake"} 1
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.001"} 0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 4 # {trace_id="x"} 0.5 1.7e9
vllm:request_success_total{finished_reason="stop"} 1e3
{"name.with.dots", engine="0"} -Inf
# EOF
`,
  `sglang:num_running_reqs{tp_rank="0",dp_rank="0",priority=""} 3\r
sglang:num_running_reqs{tp_rank="2",dp_rank="1",priority="5"} 4\r
sglang:cached_tokens_total{cache_source="device"} 5.11430304e+09\r
nv_trt_llm_request_metrics{request_type="waiting",version="1"} 1
llamacpp:kv_cache_usage_ratio 0.5
`,
].map((text) => Buffer.from(text));

/** Reads like a studio, from the bytes to the canonical metrics. */
function read(bytes: Uint8Array, cut: number): number {
  const parser = new PromParser();
  parser.write(bytes.subarray(0, cut));
  parser.write(bytes.subarray(cut));
  const metrics = parser.end();
  const mapping = chooseMapping(metrics, null);
  if (mapping !== undefined) readCanonicalMetrics(metrics, mapping);
  return metrics.badLines;
}

/**
 * Reads `count` mutations; returns the number of bad lines, the most processor time of one, which other work on the machine does not
 * increase, and the growth of the heap.
 */
function readMutations(samples: readonly Uint8Array[], count: number) {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const random = seededRandom(7).next;
  let [badLines, slowestMs, before] = [0, 0, 0];
  for (let turn = 0; turn < count; turn += 1) {
    // After the first thousand, compiled code and permanent data exist.
    if (turn === 1_000) {
      collect();
      before = process.memoryUsage().heapUsed;
    }
    const bytes = mutated(samples[turn % samples.length] ?? new Uint8Array(), random);
    const start = process.cpuUsage();
    badLines += read(bytes, Math.floor(random() * bytes.length));
    const { user, system } = process.cpuUsage(start);
    slowestMs = Math.max(slowestMs, (user + system) / 1000);
  }
  collect();
  return { badLines, slowestMs, grownBytes: process.memoryUsage().heapUsed - before };
}

const expectUnmoved = ({ badLines, slowestMs, grownBytes }: ReturnType<typeof readMutations>): void => {
  expect(badLines).toBeGreaterThan(0);
  expect(slowestMs).toBeLessThan(1_000);
  expect(grownBytes).toBeLessThan(2_000_000);
};

it("does not throw, hang or grow on 10,000 mutations of small expositions", () => {
  expectUnmoved(readMutations(own, 10_000));
});

it("does not throw, hang or grow on 50,000 mutations of captured expositions", () => {
  if (!existsSync(samplesFolder)) return console.warn(`${samplesFolder} is missing: no captured exposition was mutated`);
  const samples = readdirSync(samplesFolder).map((file) => readFileSync(join(samplesFolder, file)));
  expectUnmoved(readMutations(samples, 50_000));
});

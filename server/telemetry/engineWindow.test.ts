import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { createEngineWindow, type EngineWindow } from "./engineWindow";

/**
 * Adds an exposition of one second later;
 * @returns what fell.
 */
function take(window: EngineWindow, second: number, text: string, version = "0.30.0"): readonly string[] {
  const metrics = parsePromText(text);
  const mapping = chooseMapping(metrics, version);
  if (mapping === undefined) throw new Error("no mapping");
  return window.take(1000 * second, readCanonicalMetrics(metrics, mapping));
}

interface Counts {
  readonly prompt: number;
  readonly generated: number;
  readonly queries: number;
  readonly hits: number;
  readonly preempted: number;
  /** Up to 0.1 s, up to 1 s, all. */
  readonly buckets: readonly [number, number, number];
}

/** Each took 0.3 s. */
const histogram = (name: string, [low, middle, all]: Counts["buckets"]) =>
  `vllm:${name}_bucket{le="0.1"} ${low}\nvllm:${name}_bucket{le="1.0"} ${middle}\nvllm:${name}_bucket{le="+Inf"} ${all}\nvllm:${name}_sum ${0.3 * all}\n`;

const exposition = ({ prompt, generated, queries, hits, preempted, buckets }: Counts) =>
  [
    "vllm:num_requests_running 3\nvllm:num_requests_waiting 1\n",
    'vllm:kv_cache_usage_perc{engine="0"} 0.2\nvllm:kv_cache_usage_perc{engine="1"} 0.6\n',
    'vllm:cache_config_info{block_size="16",num_gpu_blocks="1000"} 1\n',
    `vllm:prompt_tokens_total ${prompt}\nvllm:generation_tokens_total ${generated}\nvllm:num_preemptions_total ${preempted}\n`,
    `vllm:prefix_cache_queries_total ${queries}\nvllm:prefix_cache_hits_total ${hits}\nvllm:request_success_total ${buckets[2]}\n`,
    'vllm:engine_sleep_state{sleep_state="awake"} 0\nvllm:engine_sleep_state{sleep_state="weights_offloaded"} 1\n',
    histogram("time_to_first_token_seconds", buckets),
    histogram("request_time_per_output_token_seconds", buckets),
    histogram("inter_token_latency_seconds", buckets),
    histogram("e2e_request_latency_seconds", buckets),
    histogram("request_queue_time_seconds", buckets),
  ].join("");

const none: Counts = { prompt: 0, generated: 0, queries: 0, hits: 0, preempted: 0, buckets: [0, 0, 0] };

describe("an engine's window", () => {
  it("reads every metric: levels as they stand, counters as rates, histograms as means and percentiles of what was observed lately", () => {
    const window = createEngineWindow(2);
    expect(window.readings()).toBeNull();
    take(window, 0, exposition({ ...none, prompt: 500, buckets: [100, 100, 100] }));
    expect(window.readings()).toMatchObject({
      running: { state: "value", value: 3 },
      promptTokensPerSecond: { state: "value", value: null },
      ttftP95Seconds: { state: "value", value: null },
    });
    const later = { prompt: 540, generated: 80, queries: 40, hits: 10, preempted: 4, buckets: [100, 110, 110] } as const;
    expect(take(window, 1, exposition(later))).toEqual([]);
    const value = (of: number | string) => ({ state: "value", value: of });
    expect(window.readings()).toMatchObject({
      waiting: value(1),
      kvUse: value(0.6),
      kvUseMean: value(0.4),
      kvCapacityTokens: value(16_000),
      preemptionsPerSecond: value(2),
      requestsPerSecond: value(5),
      promptTokensPerSecond: value(20),
      generationTokensPerSecond: value(40),
      prefixHitShare: value(0.25),
      ttftMeanSeconds: { value: expect.closeTo(0.3, 12) },
      tpotMeanSeconds: { value: expect.closeTo(0.3, 12) },
      endToEndMeanSeconds: { value: expect.closeTo(0.3, 12) },
      // The ten that were observed since lie between 0.1 s and 1 s.
      ttftP50Seconds: { value: expect.closeTo(0.55, 12) },
      tpotP95Seconds: { value: expect.closeTo(0.955, 12) },
      itlP99Seconds: { value: expect.closeTo(0.991, 12) },
      endToEndP50Seconds: { value: expect.closeTo(0.55, 12) },
      queueP95Seconds: { value: expect.closeTo(0.955, 12) },
      sleepState: value("weights_offloaded"),
    });
  });

  it("says which name was looked for where a metric is missing, and which canonicalMetrics an engine type does not have", () => {
    const window = createEngineWindow(1);
    take(window, 0, "vllm:num_requests_running 0\n");
    expect(window.readings()).toMatchObject({
      running: { state: "value", value: 0 },
      kvUse: { state: "absent", lookedFor: "vllm:kv_cache_usage_perc" },
      ttftP95Seconds: { state: "absent", lookedFor: 'vllm:time_to_first_token_seconds_bucket{le="+Inf"}' },
      prefixHitShare: { state: "absent", lookedFor: "vllm:prefix_cache_hits_total" },
    });
    const llama = createEngineWindow(1);
    take(llama, 0, "llamacpp:requests_processing 2\n");
    expect(llama.readings()).toMatchObject({
      running: { state: "value", value: 2 },
      ttftP95Seconds: { state: "not-applicable" },
      sleepState: { state: "not-applicable" },
    });
  });

  it("has no percentile in a window in which nothing was observed", () => {
    const window = createEngineWindow(1);
    take(window, 0, exposition(none));
    take(window, 1, exposition({ ...none, buckets: [0, 9, 9] }));
    expect(window.readings()?.ttftP50Seconds).toEqual({ state: "value", value: expect.closeTo(0.55, 12) });
    for (let second = 2; second < 20; second += 1) take(window, second, exposition({ ...none, buckets: [0, 9, 9] }));
    expect(window.readings()).toMatchObject({
      ttftP50Seconds: { state: "value", value: null },
      requestsPerSecond: { state: "value", value: 0 },
      prefixHitShare: { state: "value", value: null },
    });
  });

  it("says of a percentile in the first or the open bucket that it is a limit", () => {
    const window = createEngineWindow(1);
    take(window, 0, exposition(none));
    take(window, 1, exposition({ ...none, buckets: [90, 94, 100] }));
    expect(window.readings()).toMatchObject({
      queueP50Seconds: { state: "value", value: 0.1, limit: "upper" },
      queueP95Seconds: { state: "value", value: 1, limit: "lower" },
    });
  });

  it("tells what fell, and goes on from there", () => {
    const window = createEngineWindow(1);
    take(window, 0, exposition({ ...none, prompt: 1000, buckets: [50, 50, 50] }));
    take(window, 1, exposition({ ...none, prompt: 1010, buckets: [60, 60, 60] }));
    expect(take(window, 2, exposition({ ...none, prompt: 5, buckets: [0, 1, 1] }))).toEqual(
      expect.arrayContaining(["promptTokens", "answered", "ttftSeconds"]),
    );
    expect(window.readings()).toMatchObject({ promptTokensPerSecond: { value: 10 }, ttftP95Seconds: { value: 0.1 } });
    take(window, 3, exposition({ ...none, prompt: 35, buckets: [0, 41, 41] }));
    expect(window.readings()).toMatchObject({
      promptTokensPerSecond: { value: 20 },
      // Ten up to 0.1 s before, forty up to 1 s since.
      ttftP50Seconds: { value: expect.closeTo(0.1 + (0.9 * 15) / 40, 12) },
      ttftMeanSeconds: { value: expect.closeTo(0.3, 12) },
    });
  });

  it("takes nothing of what a rank had counted for growth when it is new, skips a scrape or has no number in it", () => {
    const rank = (engine: number, counted: number | string) =>
      [
        `vllm:request_success_total{engine="${engine}",finished_reason="stop"} ${counted}`,
        ...["0.1", "1.0", "+Inf"].map((le) => `vllm:time_to_first_token_seconds_bucket{engine="${engine}",le="${le}"} ${counted}`),
        `vllm:time_to_first_token_seconds_sum{engine="${engine}"} ${counted}\n`,
      ].join("\n");
    for (const without of ["", rank(1, "NaN")]) {
      const window = createEngineWindow(1);
      const events: string[] = [];
      // The second rank is missing in the first scrape, and in the fifth.
      for (let second = 0; second < 10; second += 1) {
        const other = second === 0 || second === 4 ? without : rank(1, 1_000_000 + 20 * second);
        events.push(...take(window, second, `${rank(0, 20 * second)}${other}`));
        const { requestsPerSecond } = window.readings() ?? {};
        if (second === 1) expect(requestsPerSecond).toEqual({ state: "value", value: null });
        if (second > 1) expect(requestsPerSecond).toEqual({ state: "value", value: 40 });
      }
      expect(events).toEqual([]);
      // Six steps of the same two ranks.
      expect(window.observed().ttft?.cumulative).toEqual([240, 240, 240]);
      expect(window.readings()?.ttftMeanSeconds).toEqual({ state: "value", value: 1 });
    }
  });

  it("has no negative rate, no share over one and no percentile outside the buckets, whatever the counters do", () => {
    const nat = fc.nat(1000);
    const counts = fc.record({
      prompt: nat,
      generated: nat,
      queries: nat,
      hits: nat,
      preempted: nat,
      buckets: fc.tuple(nat, nat, nat).map(([a, b, c]): Counts["buckets"] => [a, a + b, a + b + c]),
    });
    fc.assert(
      fc.property(fc.array(counts, { minLength: 1, maxLength: 20 }), (scrapes) => {
        const window = createEngineWindow(1);
        for (const [second, one] of scrapes.entries()) {
          take(window, second, exposition(one));
          for (const [name, reading] of Object.entries(window.readings() ?? {})) {
            if (reading.state !== "value" || typeof reading.value !== "number") continue;
            expect(reading.value, name).toBeGreaterThanOrEqual(0);
            if (/P\d\dSeconds$|Share$/.test(name)) expect(reading.value, name).toBeLessThanOrEqual(1);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestEngine } from "../testing/testEngine";
import { until } from "../testing/testGateway";
import { KvGauge } from "./kvGauge";

const periodMs = 60;

/** An engine of vLLM's kind and a gauge on it, not yet watched. */
async function gauged() {
  const engine = await startTestEngine(() => undefined);
  const pool = new Pool(engine.url);
  const gauge = new KvGauge(pool, "", periodMs);
  const reads: number[] = [];
  const say = (text: string, status = 200): void => {
    engine.pages.set("/metrics", (response) => {
      reads.push(performance.now());
      response.writeHead(status).end(text);
    });
  };
  say('vllm:num_requests_running 1\nvllm:kv_cache_usage_perc{engine="0"} 0.4\n');
  onTestFinished(async () => {
    gauge.watch(null);
    await pool.destroy();
  });
  return { engine, gauge, reads, say, now: () => gauge.useAt(performance.now()) };
}

/** When the last reading was made, on the clock of `performance.now()`. */
function readAt(gauge: KvGauge, timeScale: number): number {
  const nowMs = performance.now();
  const reading = gauge.useAt(nowMs);
  if (!("ageSeconds" in reading)) throw new Error(reading.state);
  return nowMs - (reading.ageSeconds / timeScale) * 1000;
}

describe("the reading of an engine's KV use", () => {
  it("is fresh while the engine answers, and ages between two readings, in engine seconds", async () => {
    const { gauge, reads, now } = await gauged();
    gauge.watch(100);
    await until(() => now().state === "fresh");
    const readAtMs = readAt(gauge, 100);
    const [first, second] = [gauge.useAt(readAtMs + 20), gauge.useAt(readAtMs + 70)];
    if (first.state !== "fresh" || second.state !== "fresh") throw new Error("not fresh");
    expect([first.value, second.value]).toEqual([0.4, 0.4]);
    expect(second.ageSeconds - first.ageSeconds).toBeCloseTo(5, 6);
    expect(gauge.useAt(readAtMs + 3.5 * periodMs)).toMatchObject({ state: "stale", value: 0.4 });
    expect(gauge.useAt(readAtMs + 11 * periodMs).state).toBe("unreachable");
    const count = reads.length;
    await until(() => reads.length >= count + 5 && now().state === "fresh");
  });

  it("turns from fresh to stale to unreachable, and never to zero, while an engine hangs, which is asked one question at a time and ever more rarely", async () => {
    const { engine, gauge, now } = await gauged();
    gauge.watch(1);
    await until(() => now().state === "fresh");
    let open = 0;
    let most = 0;
    let asked = 0;
    engine.pages.set("/metrics", (response) => {
      asked += 1;
      open += 1;
      most = Math.max(most, open);
      response.once("close", () => {
        open -= 1;
      });
    });
    const startedMs = performance.now();
    await until(() => asked > 1);
    const readAtMs = readAt(gauge, 1);
    const reason = `/metrics did not answer within ${periodMs} ms`;
    for (let ageMs = 1; ageMs < 20 * periodMs; ageMs += 5) {
      const reading = gauge.useAt(readAtMs + ageMs);
      if (ageMs < 3 * periodMs) expect(reading).toMatchObject({ state: "fresh", value: 0.4 });
      else if (ageMs < 10 * periodMs) expect(reading).toMatchObject({ state: "stale", value: 0.4, reason });
      else expect(reading).toEqual({ state: "unreachable", reason });
    }
    await sleep(20 * periodMs - (performance.now() - startedMs));
    expect(now().state).toBe("unreachable");
    expect(most).toBe(1);
    // 1, 1, 2, 4 and 8 periods of rest, each with one period of waiting.
    expect(asked).toBeLessThanOrEqual(7);
  });

  it("is unreachable as soon as it is no longer fresh where nothing listens, and fresh again when the engine is back", async () => {
    const { engine, gauge, now } = await gauged();
    gauge.watch(1);
    await until(() => now().state === "fresh");
    await engine.close();
    const readAtMs = readAt(gauge, 1);
    await until(() => now().state === "unreachable");
    const states = [2.9, 3.1].map((periods) => gauge.useAt(readAtMs + periods * periodMs).state);
    expect(states).toEqual(["fresh", "unreachable"]);
    const back = await startTestEngine(() => undefined, Number(new URL(engine.url).port));
    back.pages.set("/metrics", (response) => response.end("vllm:kv_cache_usage_perc 0.7\n"));
    await until(() => now().state === "fresh");
    expect(now()).toMatchObject({ value: 0.7 });
  });

  it.each([
    ["has no such metric", "vllm:num_requests_running 3\n", 200, "vllm:kv_cache_usage_perc is not among its metrics"],
    ["has no metrics", "", 404, "there is no /metrics"],
  ])("is absent where the engine %s, and says what was looked for", async (_, text, status, reason) => {
    const { gauge, say, now } = await gauged();
    say(text, status);
    gauge.watch(1);
    await until(() => now().state === "absent");
    expect(now()).toEqual({ state: "absent", reason });
    say("vllm:kv_cache_usage_perc 0\n");
    await until(() => now().state === "fresh");
    expect(now()).toMatchObject({ value: 0 });
  });

  it("says in the same question what the cache holds and how often requests were preempted, each absent by itself", async () => {
    const { gauge, reads, say } = await gauged();
    const capacity = 'vllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1.0\n';
    const nowMs = () => performance.now();
    expect(gauge.capacity).toEqual({ tokens: null, reason: "no policy in force reads it" });
    say(`vllm:num_preemptions_total 3.0\n${capacity}`);
    gauge.watch(1);
    expect(gauge.capacity).toEqual({ tokens: null, reason: "no answer yet" });
    await until(() => gauge.preemptionsAt(nowMs()).state === "fresh");
    expect(gauge.preemptionsAt(nowMs())).toMatchObject({ value: 3 });
    expect(gauge.capacity).toEqual({ tokens: 1600 });
    expect(gauge.useAt(nowMs())).toEqual({ state: "absent", reason: "vllm:kv_cache_usage_perc is not among its metrics" });
    expect(reads.length).toBe(1);
    say("vllm:kv_cache_usage_perc 0.5\n");
    await until(() => gauge.useAt(nowMs()).state === "fresh");
    expect(gauge.capacity).toEqual({ tokens: null, reason: "vllm:cache_config_info is not among its metrics" });
    expect(gauge.preemptionsAt(nowMs())).toEqual({ state: "absent", reason: "vllm:num_preemptions_total is not among its metrics" });
    say("", 404);
    await until(() => gauge.capacity.tokens === null && gauge.useAt(nowMs()).state === "absent");
    expect([gauge.capacity, gauge.preemptionsAt(nowMs())]).toMatchObject([{ reason: "there is no /metrics" }, { state: "absent" }]);
  });

  it("counts on from what was preempted before an engine was started anew, and takes no rank that comes or goes for preemptions", async () => {
    const { gauge, reads, say } = await gauged();
    const counted: unknown[] = [];
    gauge.watch(1);
    for (const ranks of [[5], [7], [0], [2], [2, 9], [3, 9], [3]]) {
      say(ranks.map((count, rank) => `vllm:num_preemptions_total{engine="${rank}"} ${count}\n`).join(""));
      const before = reads.length;
      await until(() => reads.length >= before + 2);
      const reading = gauge.preemptionsAt(performance.now());
      counted.push("value" in reading ? reading.value : reading.state);
    }
    expect(counted).toEqual([5, 7, 7, 9, 9, 10, 10]);
    gauge.watch(null);
    expect(gauge.preemptionsAt(performance.now())).toEqual({ state: "absent", reason: "no policy in force reads it" });
  });

  it("fails on an engine that sends without end, at a bound", async () => {
    const { engine, gauge, now } = await gauged();
    engine.pages.set("/metrics", (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(100_000)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    gauge.watch(1);
    await until(() => now().state === "unreachable" && now().reason !== "no answer yet");
    expect(now()).toMatchObject({ reason: expect.stringMatching(/more than 4000000 bytes|did not answer/) });
  });

  it("is not taken while nobody asks for it, and no longer once nobody does", async () => {
    const { gauge, reads, now } = await gauged();
    expect(now().state).toBe("absent");
    await sleep(2 * periodMs);
    expect(reads).toEqual([]);
    gauge.watch(1);
    gauge.watch(1);
    await until(() => reads.length === 2);
    gauge.watch(null);
    expect(now().state).toBe("absent");
    await sleep(4 * periodMs);
    expect(reads.length).toBe(2);
    gauge.watch(1);
    expect(now().state).toBe("unreachable");
    await until(() => now().state === "fresh");
  });
});

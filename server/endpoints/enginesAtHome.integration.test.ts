import { afterEach, describe, expect, it } from "vitest";
import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { bodyOf, exchangeOf, readRecording } from "@/server/engines/testing/recordedEngine";
import { startReplay } from "@/server/engines/testing/replayServer";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { describeEndpoint } from "./describeEndpoint";
import { type EndpointProbe, probeEndpoint } from "./probeEndpoint";
import { startTestEndpoint } from "./testing/testEndpoints";

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const { signal } = new AbortController();
const probe = (url: string, more: { servedName?: string; generate?: boolean } = {}) => {
  const { generate = false, ...target } = more;
  return probeEndpoint({ name: "e", url, ...target }, { signal, limitMs: 20_000, generate });
};
const says = ({ findings }: EndpointProbe) => findings.map(({ level, what, sentence }) => `${level} ${what}: ${sentence}`);
const cards = catalogueOf(noUserCards);

async function probeLlama(state: string, answer?: string) {
  const engine = await startReplay(readRecording(`llama.cpp/${state}`));
  if (answer !== undefined) engine.answerWith(answer);
  return probe(engine.url, { generate: answer !== undefined });
}

/** Pages of a llama.cpp router and of Ollama, by their sources. */
const routed = (value: string, id: string) => ({ id, object: "model", owned_by: "llamacpp", status: { value, args: [] } });
const router = {
  "/v1/models": { object: "list", data: [routed("loaded", "qwen2.5-3b"), routed("unloaded", "qwen2.5-7b")] },
  "/props": {
    ...{ role: "router", max_instances: 2, models_autoload: true, model_alias: "llama-server", build_info: "b11434-abc" },
    default_generation_settings: { params: null, n_ctx: 0 },
  },
};
const details = (level: string) => ({ format: "gguf", family: "qwen2", parameter_size: "3.1B", quantization_level: level });
const stored = (name: string, level: string) => ({ name, model: name, size: 1_929_912_432, digest: "3ddd", details: details(level) });
const ollama = (running: readonly object[]) => ({
  "/api/version": { version: "0.17.4" },
  "/api/tags": { models: [stored("qwen2.5:3b", "Q4_K_M"), stored("llama3.1:8b", "Q8_0")] },
  "/api/ps": { models: running },
  "/v1/models": {
    object: "list",
    data: ["qwen2.5:3b", "llama3.1:8b"].map((id) => ({ id, object: "model", created: 1_760_000_000, owned_by: "library" })),
  },
});
const inMemory = { ...stored("qwen2.5:3b", "Q4_K_M"), expires_at: "2026-01-01T00:05:00Z", size_vram: 0, context_length: 4096 };

async function probeOllama(running: readonly object[], servedName?: string) {
  const engine = await startTestEndpoint({ withoutHealth: true, pages: ollama(running) });
  closing.push(engine.close);
  return probe(engine.url, servedName === undefined ? {} : { servedName });
}

describe("llama.cpp's own server, as recorded", () => {
  it("is recognised with its slots as limit and its context, and its gaps are said, not filled", async () => {
    const found = await probeLlama("idle");
    expect(found).toMatchObject({ engine: { type: "llama.cpp", version: null }, limits: { maxSequences: 4 }, precision: null });
    expect(found.served).toMatchObject([{ id: "arith-small", maxModelLen: 1024 }]);
    expect(says(found)).toContain("ok engine: It runs 4 requests at once, each of up to 1024 tokens; it refuses longer ones.");
    expect(found.absent).toEqual(expect.arrayContaining(["kvUse", "kvCapacityTokens", "answered", "ttftSeconds", "preemptions"]));
    expect(found.absent).not.toContain("waiting");
    expect(says(found)).toContain("warn metrics: Its metrics lack kvUse.");
  });

  it.each([["chat"], ["stream"]])("generates its token: %s", async (answer) => {
    expect(says(await probeLlama("idle", answer)).at(-1)).toMatch(/^ok token: arith-small generates/);
  });

  it("is read with what it has, under load, and nothing else is 0", () => {
    const busy = readRecording("llama.cpp/busy");
    const metrics = parsePromText(bodyOf(exchangeOf(busy, "/metrics")));
    const mapping = chooseMapping(metrics, null);
    const slots = JSON.parse(bodyOf(exchangeOf(busy, "/slots"))) as { is_processing: boolean }[];
    expect(mapping?.engine).toBe("llama.cpp");
    const read = readCanonicalMetrics(metrics, mapping!);
    const values = Object.fromEntries(Object.entries(read).flatMap(([name, one]) => (one.state === "value" ? [[name, one.value]] : [])));
    expect(Object.keys(values).sort()).toEqual(["generationTokens", "prefixHits", "prefixQueries", "promptTokens", "running", "waiting"]);
    expect(values.running).toBe(slots.filter((slot) => slot.is_processing).length);
    expect(values.waiting).toBeGreaterThan(0);
    expect(values.promptTokens).toBeGreaterThanOrEqual(Number(values.prefixHits));
    expect(metrics.badLines).toBe(0);
  });

  it("has a way out where its metrics are off, its slots known all the same", async () => {
    const found = await probeLlama("without-metrics");
    expect(found).toMatchObject({ engine: { type: "llama.cpp" }, limits: { maxSequences: 4 }, absent: [] });
    expect(found.findings.find(({ what }) => what === "metrics")).toMatchObject({ level: "warn", next: "Start it with --metrics." });
  });

  it("says that it wants a key, that it still loads, that it sleeps", async () => {
    expect(says(await probeLlama("without-key")).at(-1)).toBe("failed key: It wants an API key.");
    expect(says(await probeLlama("loading")).at(-1)).toBe("failed models: llama.cpp is still loading its model.");
    expect(says(await probeLlama("sleeping"))).toContain(
      "warn engine: It sleeps: the next request loads its model again, which takes seconds.",
    );
  });

  it("refuses a request longer than a slot with a 400 that names both numbers, and takes any model's name", () => {
    const idle = readRecording("llama.cpp/idle");
    const long = exchangeOf(idle, "too long");
    expect(long.response.status).toBe(400);
    expect(JSON.parse(bodyOf(long))).toMatchObject({
      error: { type: "exceed_context_size_error", n_prompt_tokens: 3002, n_ctx: 1024 },
    });
    expect(exchangeOf(idle, "unknown model").response.status).toBe(200);
  });

  it("says as a router that models load at their first request, and that it has no metrics of its own", async () => {
    const engine = await startTestEndpoint({ pages: router });
    closing.push(engine.close);
    const found = await probe(engine.url, { servedName: "qwen2.5-7b" });
    expect(found).toMatchObject({ engine: { type: "llama.cpp", version: "b11434-abc" }, limits: null });
    expect(says(found).join("\n")).toContain("and runs at most 2 at once. Loaded now: qwen2.5-3b. It does not report their slots.");
    expect(says(found).at(-1)).toMatch(/^warn metrics: A router has metrics of each of its models and none of its own/);
  });
});

describe("an adapter that vLLM lists with its parent, as recorded", () => {
  const { paramsB: _, provenance: __, ...small } = cards.models["qwen2.5-3b"]!;
  const own = catalogueOf({ ...noUserCards, models: [{ ...small, id: "arith-small", kvBytesPerValue: 2, source: "a test" }] });

  async function tried(servedName?: string) {
    const engine = await startReplay(readRecording("vllm-0.32-lora"));
    const target = { name: "e", url: engine.url, ...(servedName === undefined ? {} : { servedName }) };
    const { url: _, ...named } = target;
    return describeEndpoint(target, await probe(engine.url, named), { cards: own });
  }

  it("is listed beside its parent, which needs no choice between the two", async () => {
    expect(await tried()).toMatchObject({ endpoint: { model: "arith-small" }, adapters: ["arith-tuned"], questions: [] });
  });

  it("is attached by its own name, as an adapter of the parent's card", async () => {
    const { endpoint, adapters } = await tried("arith-tuned");
    expect(endpoint).toMatchObject({ model: "arith-tuned", servedName: "arith-tuned", adapterOf: "arith-small" });
    expect(adapters).toEqual([]);
  });

  it("answers under its name, and its engine's metrics count it under the parent's", () => {
    const recorded = readRecording("vllm-0.32-lora");
    expect(JSON.parse(bodyOf(exchangeOf(recorded, "adapter")))).toMatchObject({ model: "arith-tuned" });
    expect(exchangeOf(recorded, "unknown model").response.status).toBe(404);
    const running = bodyOf(exchangeOf(recorded, "/metrics"))
      .split("\n")
      .filter((line) => line.startsWith("vllm:num_requests_running"));
    expect(running).toEqual([expect.stringContaining('model_name="arith-small"')]);
  });
});

describe("Ollama, by its published API", () => {
  it("is recognised, without telemetry and without a number of requests at once, and both are said", async () => {
    const found = await probeOllama([inMemory], "qwen2.5:3b");
    expect(found).toMatchObject({ engine: { type: "ollama", version: "0.17.4" }, limits: null, precision: "int4", absent: [] });
    expect(found.findings.filter(({ level }) => level === "failed")).toEqual([]);
    expect(says(found)).toContain("warn engine: Ollama does not report how many requests it runs at once.");
    expect(says(found).at(-1)).toMatch(/^warn metrics: Ollama has no metrics, so its queue, its cache and its own latencies are unknown/);
    expect(says(found).join()).not.toContain("not in memory");
  });

  it("says which model is not in memory, and what is", async () => {
    expect(says(await probeOllama([inMemory], "llama3.1:8b"))).toContain(
      "warn models: llama3.1:8b is not in memory: its first request loads it, which takes seconds. In memory: qwen2.5:3b with 4096 tokens of context.",
    );
    expect(says(await probeOllama([])).join("\n")).toContain("No model is in memory: its first request loads it");
  });

  it.each([
    ["qwen2.5:3b", "qwen2.5-3b", "int4"],
    ["llama3.1:8b", "llama-3.1-8b", "fp8"],
  ])("finds the card and the weights of %s", async (servedName, model, precision) => {
    const found = await probeOllama([], servedName);
    const { endpoint } = describeEndpoint({ name: "e", url: found.url, servedName }, found, { cards });
    expect(endpoint).toMatchObject({ model, servedName, precision });
    expect(endpoint?.guessed).not.toContain("precision");
    expect(endpoint).not.toHaveProperty("limits");
  });
});

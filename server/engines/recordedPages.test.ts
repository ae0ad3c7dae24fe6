import { describe, expect, it } from "vitest";
import { chooseMapping } from "./chooseMapping";
import { type PromText, parsePromText } from "./promText";
import { type MetricReadings, readCanonicalMetrics } from "./readCanonicalMetrics";
import { readEngineMemory } from "./readEngineMemory";
import { recordedVllm } from "./testing/recordedEngine";

const { pages } = recordedVllm();
const expositions = pages.map(({ name, text }) => ({ name, metrics: parsePromText(text) }));

function readings(metrics: PromText): MetricReadings {
  const mapping = chooseMapping(metrics, "0.32.0");
  if (mapping?.engine !== "vllm") throw new Error(`The page is read as ${mapping?.engine}.`);
  return readCanonicalMetrics(metrics, mapping);
}

const valueOf = (reading: MetricReadings["running"]): number => (reading.state === "value" ? reading.value : Number.NaN);

/** Names of counters and of the parts of histograms, by the page's own types. */
function growing(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) (counter|histogram)$/gm)].flatMap(([, name = "", type]) =>
    type === "counter" ? [name] : [`${name}_bucket`, `${name}_count`, `${name}_sum`],
  );
}

describe("the pages of metrics of a real vLLM", () => {
  it("are read whole, at every time", () => {
    for (const { name, metrics } of expositions) {
      expect(metrics.bad, name).toEqual([]);
      expect([...metrics.byName.keys()].length, name).toBeGreaterThan(100);
    }
  });

  it("have every figure that telemetry looks for", () => {
    for (const { name, metrics } of expositions) {
      const absent = Object.entries(readings(metrics)).filter(([, { state }]) => state === "absent");
      expect(absent, name).toEqual([]);
    }
  });

  it("have counters that never fall", () => {
    for (const [at, { text }] of pages.entries()) {
      const before = expositions[at - 1];
      const now = expositions[at];
      if (before === undefined || now === undefined) continue;
      for (const name of growing(text)) {
        const earlier = new Map((before.metrics.byName.get(name) ?? []).map(({ labelText, value }) => [labelText, value]));
        for (const { labelText, value } of now.metrics.byName.get(name) ?? [])
          expect(value, `${name}{${labelText}} at ${now.name}`).toBeGreaterThanOrEqual(earlier.get(labelText) ?? 0);
      }
    }
  });

  it("tell what the engine did: idle, more requests than run at once, idle again", () => {
    const [idle, busy, busier, after] = expositions.map(({ metrics }) => readings(metrics));
    expect([idle, after].map((one) => one && valueOf(one.running))).toEqual([0, 0]);
    // At most four run at once; the recorder sends eight.
    expect(busy && valueOf(busy.running)).toBeGreaterThanOrEqual(3);
    expect(busy && valueOf(busy.running)).toBeLessThanOrEqual(4);
    expect(busy && valueOf(busy.running) + valueOf(busy.waiting)).toBe(8);
    expect(busier?.kvUse).toMatchObject({ state: "value", value: { max: expect.any(Number) } });
    expect(after && valueOf(after.generationTokens)).toBeGreaterThan(busier ? valueOf(busier.generationTokens) : Number.NaN);
    expect(after && valueOf(after.answered)).toBeGreaterThan(8);
    expect(after?.sleepState).toMatchObject({ state: "value", value: "awake" });
  });

  it("tell the size of the KV cache by the engine's configuration", () => {
    for (const { text } of pages) {
      const { kvTokens, kvUse, preemptions } = readEngineMemory(text);
      // Six blocks of 128 tokens, as the engine was started.
      expect(kvTokens).toEqual({ found: true, value: 6 * 128 });
      expect(kvUse).toMatchObject({ found: true });
      expect(preemptions).toMatchObject({ found: true });
    }
  });
});

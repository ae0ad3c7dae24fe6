import { Histogram as PrometheusHistogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { MetricRegistry } from "./metricRegistry";

const name = "weir_test_seconds";
const buckets = [0.1, 1, 10];
const observations = [
  ["a", 0.05],
  ["a", 0.1],
  ["a", 5],
  ["b", 1e6],
  ["a", 0.100001],
] as const;

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line.startsWith(name));

it("is exposed as prom-client exposes a histogram of the same values", async () => {
  const registry = new MetricRegistry();
  const own = registry.histogram(name, "Test.", { labels: ["model"], buckets });
  const register = new Registry();
  const known = new PrometheusHistogram({ name, help: "Test.", labelNames: ["model"], buckets, registers: [register] });
  for (const [model, value] of observations) {
    own.observe({ model }, value);
    known.observe({ model }, value);
  }
  const lines = linesOf((await registry.exposition()).text);
  expect(lines).toEqual(linesOf(await register.metrics()));
  expect(lines).toContain('weir_test_seconds_bucket{le="0.1",model="a"} 2');
});

it("starts anew under labels that were forgotten, and keeps the others", async () => {
  const registry = new MetricRegistry();
  const own = registry.histogram(name, "Test.", { labels: ["model"], buckets });
  for (const [model, value] of observations) own.observe({ model }, value);
  registry.forget((label, value) => label === "model" && value === "a");
  own.observe({ model: "a" }, 2);
  const counts = linesOf((await registry.exposition()).text).filter((line) => line.includes("_count"));
  expect(counts).toEqual(['weir_test_seconds_count{model="b"} 1', 'weir_test_seconds_count{model="a"} 1']);
});

it("is exposed empty while nothing was observed", async () => {
  const registry = new MetricRegistry();
  registry.histogram(name, "Test.", { labels: ["model"], buckets });
  const { text } = await registry.exposition();
  expect(text).toContain(`# TYPE ${name} histogram`);
  expect(linesOf(text)).toEqual([]);
});

it("leaves out labels without a value, which no name that goes out of use takes along", async () => {
  const registry = new MetricRegistry();
  const own = registry.histogram(name, "Test.", { labels: ["model", "error"], buckets });
  own.observe({ model: "a", error: "" }, 2);
  registry.forget((label, value) => label === "error" && value === "");
  expect(linesOf((await registry.exposition()).text)).toContain('weir_test_seconds_count{model="a"} 1');
});

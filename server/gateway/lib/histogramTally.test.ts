import { expect, it } from "vitest";
import { MetricRegistry } from "./metricRegistry";

const buckets = [1, 2.5];
const lines = async (registry: MetricRegistry): Promise<readonly string[]> =>
  (await registry.exposition()).text.split("\n").filter((line) => line.includes("work_seconds"));

it("is written as Prometheus' own histograms are, with the labels that a series has", async () => {
  const [tallied, own] = [new MetricRegistry(), new MetricRegistry()];
  const tally = tallied.histogramTally("work_seconds", "Time of work.", { labels: ["model", "error"], buckets });
  const histogram = own.histogram("work_seconds", "Time of work.", { labels: ["model", "error"], buckets });
  for (const value of [0, 1, 1.5, 2.5, 7]) {
    for (const labels of [{ model: "a" }, { model: "a", error: 'a "b"' }]) {
      tally.observe(labels, value);
      histogram.observe(labels, value);
    }
  }
  const sorted = async (registry: MetricRegistry) =>
    (await lines(registry)).map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(",").sort().join()}}`));
  expect(await sorted(tallied)).toEqual(await sorted(own));
  expect(await lines(tallied)).toContain('work_seconds_bucket{le="2.5",model="a"} 4');
});

it("forgets the series of a name that is gone, and begins anew where it comes back", async () => {
  const registry = new MetricRegistry();
  const tally = registry.histogramTally("work_seconds", "Time of work.", { labels: ["model", "error"], buckets });
  for (const model of ["old", "new"]) tally.observe({ model }, 1);
  await registry.forget((label, value) => label === "model" && value === "old");
  expect((await lines(registry)).join()).not.toContain("old");
  tally.observe({ model: "old" }, 1);
  expect(await lines(registry)).toContain('work_seconds_count{model="old"} 1');
});

import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { Predictions } from "@/solver/plan/plan";
import { clusterCharts } from "./clusterCharts";
import { engineCharts } from "./engineCharts";
import { gpuActivity, gpuCharts, gpuMemory } from "./gpuCharts";
import { fitCharts, keyText, type LiveChartSpec, shadeOf, statingWindow } from "./liveCharts";
import { modelCharts } from "./modelCharts";
import type { GpuSubject, Subjects } from "./prepareSubjects";
import { scopeCharts } from "./scopeCharts";

const GIBIBYTE = 1024 ** 3;
const identities = identifyModels(["small-8b", "large-70b"]);
const gpu = (node: string, index: number): GpuSubject => ({
  subject: `gpu:${node}/${index}`,
  node,
  name: `GPU ${index}`,
  memoryTotalBytes: 80 * GIBIBYTE,
  model: "small-8b",
});
const subjects: Subjects = {
  models: ["small-8b", "large-70b"],
  engines: [
    { id: "s0", model: "small-8b" },
    { id: "s1", model: "small-8b" },
    { id: "l0", model: "large-70b" },
  ],
  gpus: [gpu("n1", 0), gpu("n2", 0)],
};
const predictions = {
  quality: 80,
  qualityBand: { low: 78, high: 82 },
  p95Seconds: 6,
  p95Band: { low: 5, high: 7 },
  costUsdPerHour: 12,
  stages: [
    {
      model: "small-8b",
      share: 1,
      p95Seconds: 2,
      ttftP95Seconds: 0.1,
      bands: { p95Seconds: { low: 1, high: 3 }, ttftP95Seconds: { low: 0.05, high: 0.2 } },
    },
    { model: "large-70b", share: 0.5, startShare: 0.1, p95Seconds: 4, ttftP95Seconds: 0.3 },
  ],
} as unknown as Predictions;

const byId = (charts: readonly LiveChartSpec[], id: string): LiveChartSpec => {
  const chart = charts.find((each) => each.id === id);
  if (chart === undefined) throw new Error(`no chart ${id}`);
  return chart;
};
const keys = (chart: LiveChartSpec) => chart.series.map(({ key }) => keyText(key));

describe("charts of a scope", () => {
  it("have a name of their own each, and say what to say when nothing is there", () => {
    for (const [scope, of] of [
      ["cluster", null],
      ["model", "small-8b"],
      ["engine", "s0"],
      ["gpu", "n1"],
    ] as const) {
      const charts = scopeCharts(subjects, scope, of, identities);
      expect(charts.length).toBeGreaterThanOrEqual(4);
      expect(new Set(charts.map(({ id }) => id)).size).toBe(charts.length);
      for (const { series, empty } of charts) {
        expect(series.length).toBeGreaterThan(0);
        expect(empty).toMatch(/\.$/);
      }
    }
  });

  it("are none of what is not there, and a cluster's without engines are those of its gateway", () => {
    const nothing = { models: [], engines: [], gpus: [] };
    expect(scopeCharts(nothing, "model", null, identities)).toEqual([]);
    const gateway = scopeCharts(nothing, "cluster", null, identities);
    expect(gateway.map(({ id }) => id)).toEqual(["requests", "end-to-end", "client-ttft", "quality", "overhead"]);
  });

  it("draw a cluster's models in their hues and its engines in shades of them", () => {
    const charts = clusterCharts(subjects, identities);
    expect(keys(byId(charts, "tokens"))).toEqual(["stage:small-8b tokensPerSecond", "stage:large-70b tokensPerSecond"]);
    const [first, second, other] = byId(charts, "kv").series;
    expect(first?.hue).toBe(identities.get("small-8b")?.hue);
    expect(second?.hue).toContain(identities.get("small-8b")?.hue);
    expect(second?.hue).not.toBe(first?.hue);
    expect(other?.hue).toContain(identities.get("large-70b")?.hue);
  });

  it("add up what models cost, beside what the plan said all of it costs", () => {
    const cost = byId(clusterCharts(subjects, identities), "cost");
    expect(cost.derived).toEqual([
      { key: { subject: "cluster", quantity: "usdPerHour" }, of: cost.series.slice(0, 2).map(({ key }) => key), how: "sum" },
    ]);
    expect(cost.promised?.(predictions)).toEqual([{ low: 12, high: 12, value: 12 }]);
  });

  it("put what a plan promised behind p95, quality, stages and shares", () => {
    const charts = clusterCharts(subjects, identities);
    expect(byId(charts, "end-to-end").promised?.(predictions)).toEqual([{ low: 5, high: 7, value: 6 }]);
    expect(byId(charts, "quality").promised?.(predictions)).toEqual([{ low: 78, high: 82, value: 80 }]);
    // A tenth of all requests start at the large model, out of the half that it serves.
    expect(byId(charts, "escalated").promised?.(predictions)).toEqual([
      { low: 0.4, high: 0.4, value: 0.4, hue: identities.get("small-8b")?.hue },
    ]);
    const model = modelCharts(subjects, "large-70b", identities);
    expect(byId(model, "model-latency").promised?.(predictions)).toEqual([{ low: 4, high: 4, value: 4 }]);
    expect(byId(model, "model-share").promised?.(predictions)).toMatchObject([{ value: 0.5 }]);
  });

  it("draw a model's replicas and no others", () => {
    expect(keys(byId(modelCharts(subjects, "small-8b", identities), "model-kv"))).toEqual(["engine:s0 kvUse", "engine:s1 kvUse"]);
  });

  it("name for an engine's chart the readings whose absence explains an empty one", () => {
    expect(byId(engineCharts("s0"), "engine-ttft").reads).toEqual(["ttftP50Seconds", "ttftP95Seconds", "ttftP99Seconds"]);
  });
});

describe("charts of GPUs", () => {
  const many = ["n1", "n2"].flatMap((node) => Array.from({ length: 8 }, (_, index) => gpu(node, index)));

  it("draw one line for each node where there are many, the mean of its GPUs", () => {
    const chart = gpuActivity(many, identities, "node when many");
    expect(chart.series.map(({ name }) => name)).toEqual(["n1", "n2"]);
    expect(chart.derived?.map(({ of, how }) => [of.length, how])).toEqual([
      [8, "mean"],
      [8, "mean"],
    ]);
    expect(gpuActivity(subjects.gpus, identities, "node when many").series.map(({ name }) => name)).toEqual(["n1 GPU 0", "n2 GPU 0"]);
  });

  it("give memory as a share of what each GPU has, and of what was kept of that while nothing tells it", () => {
    const chart = gpuMemory([gpu("n1", 0), { ...gpu("n1", 1), memoryTotalBytes: null }], identities);
    const used = (subject: string) => ({ subject, quantity: "memoryUsedBytes" });
    expect(chart.derived).toMatchObject([
      { of: [used("gpu:n1/0")], how: "sum", times: 1 / (80 * GIBIBYTE) },
      { of: [used("gpu:n1/1"), { subject: "gpu:n1/1", quantity: "memoryTotalBytes" }], how: "share" },
    ]);
  });

  it("keep their place on the page while the exporter hangs", () => {
    const silent = { ...subjects, gpus: subjects.gpus.map((each) => ({ ...each, memoryTotalBytes: null })) };
    const ids = (of: Subjects) => scopeCharts(of, "cluster", null, identities).map(({ id }) => id);
    expect(ids(silent)).toEqual(ids(subjects));
  });

  it("are those of the node alone", () => {
    expect(keys(byId(gpuCharts(many, "n2", identities), "gpu-power"))).toHaveLength(8);
  });
});

describe("what one stream carries", () => {
  it("asks for each series once, and in place of a derived one for what it is made of", () => {
    const { series, left } = fitCharts([gpuMemory(subjects.gpus, identities), ...gpuCharts(subjects.gpus, "n1", identities)]);
    const asked = series.map(keyText);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).toContain("gpu:n1/0 memoryUsedBytes");
    expect(asked.join()).not.toContain("memoryShare");
    expect(left).toEqual([]);
  });

  it("leaves out by name what would be too much, and still takes what comes after", () => {
    const engines = Array.from({ length: 200 }, (_, at) => ({ id: `engine-with-a-long-name-${at}`, model: "small-8b" }));
    const { carried, left, series } = fitCharts(clusterCharts({ ...subjects, engines }, identities));
    expect(left).toEqual(["KV cache in use, by engine"]);
    expect(carried.map(({ id }) => id)).toContain("cost");
    expect(series.length).toBeLessThanOrEqual(150);
  });
});

it("tells six things of one hue apart by shade and dash", () => {
  const looks = [0, 1, 2, 3, 4, 5].map((at) => JSON.stringify(shadeOf("red", at)));
  expect(new Set(looks).size).toBe(6);
});

it("does not claim of a cluster that labels are never known where a time had no answer", () => {
  const empty = clusterCharts(subjects, identities).find(({ id }) => id === "quality")?.empty;
  expect(empty).toMatch(/^No answer in this time /);
});

describe("statingWindow", () => {
  it("says beside the title which time a chart's requests are of, and nothing where they are of each moment", () => {
    const noteOf = (id: string, seconds: number) => {
      const chart = clusterCharts(subjects, identities).find((each) => each.id === id);
      return chart === undefined ? "no such chart" : statingWindow(chart, seconds).note;
    };
    expect(noteOf("stages", 30)).toBe("queue and engine, last 30\u00a0s");
    expect(noteOf("overhead", 30)).toBe("last 30\u00a0s");
    expect(noteOf("stages", 0)).toBe("queue and engine");
    expect(noteOf("in-flight", 30)).toBe("requests at the gateway");
  });
});

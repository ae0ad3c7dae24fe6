import { expect, it } from "vitest";
import type { PlanPromise, PromiseReport } from "@/server/contracts/studio/promise";
import { createStudioMetrics } from "./studioMetrics";

const promise = (change: Partial<PlanPromise>): PlanPromise => ({
  ...{ quantity: "end-to-end", model: null, name: "", kind: "seconds", promised: 2, measured: 3, band: null, interval: null },
  ...{ verdict: "kept", reason: "" },
  ...change,
});

it("has the figures of a plan as a whole, without names of models and classes, and without what is not measured", async () => {
  const promises = [
    promise({}),
    promise({ quantity: "quality", promised: 84, measured: null, verdict: "too little measured" }),
    promise({ quantity: "cost-per-hour", promised: 1, measured: 4, verdict: "broken" }),
    promise({ quantity: "stage-share", model: "secret-model" }),
    promise({ quantity: "class-latency", name: "p95 of secret-class" }),
  ];
  const metrics = createStudioMetrics({
    frames: () => [],
    applications: { counts: () => [] } as never,
    series: () => [],
    promises: () => [{ cluster: "c1", report: { promises } as unknown as PromiseReport }],
  });
  const { text } = await metrics.exposition();
  const lines = text.split("\n").filter((line) => line.startsWith("weir_studio_plan_"));
  expect(lines).toEqual([
    'weir_studio_plan_promised{cluster="c1",quantity="end-to-end"} 2',
    'weir_studio_plan_promised{cluster="c1",quantity="quality"} 84',
    'weir_studio_plan_promised{cluster="c1",quantity="cost-per-hour"} 1',
    'weir_studio_plan_measured{cluster="c1",quantity="end-to-end"} 3',
    'weir_studio_plan_measured{cluster="c1",quantity="cost-per-hour"} 4',
    'weir_studio_plan_promise_broken{cluster="c1",quantity="end-to-end"} 0',
    'weir_studio_plan_promise_broken{cluster="c1",quantity="quality"} 0',
    'weir_studio_plan_promise_broken{cluster="c1",quantity="cost-per-hour"} 1',
  ]);
  expect(text).not.toContain("secret");
});

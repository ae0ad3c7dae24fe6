import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { WorkflowFigures } from "@/solver/lab/labCell";
import { percentiles } from "@/solver/lab/percentiles";
import { quantileOfSorted } from "@/solver/numeric/quantile";
import { keptAt, type PartRow, pooledQuantile, shareWithin } from "./race";

const anyValues = fc
  .array(fc.double({ min: 0.1, max: 100, noNaN: true }), { minLength: 50, maxLength: 120 })
  .map((values) => Float64Array.from(values));

const figures = (workflow: string, values: Float64Array): WorkflowFigures => ({
  ...{ workflow, programs: values.length, meanSeconds: 1, meanSecondsPerToken: 1, quality: null },
  latencyQuantiles: percentiles(values),
});

it("the share within a limit is that of the values, to a percent and a value", () => {
  fc.assert(
    fc.property(anyValues, fc.double({ min: 0, max: 110, noNaN: true }), (values, limit) => {
      const known = values.filter((value) => value <= limit).length / values.length;
      expect(Math.abs(shareWithin(percentiles(values), limit) - known)).toBeLessThanOrEqual(0.01 + 2 / values.length);
    }),
    { endOnFailure: true },
  );
});

it("a quantile over several workflows lies between the pooled values about it", () => {
  fc.assert(
    fc.property(anyValues, anyValues, (one, other) => {
      const found = pooledQuantile([figures("one", one), figures("other", other)], 0.9);
      const pooled = Float64Array.from([...one, ...other]).sort();
      expect(found).toBeGreaterThanOrEqual(quantileOfSorted(pooled, 0.86) * (1 - 1e-9));
      expect(found).toBeLessThanOrEqual(quantileOfSorted(pooled, 0.94) * (1 + 1e-9));
    }),
    { endOnFailure: true },
  );
});

it("rows of an earlier run are kept for their mix and load alone, and not where they are of other seeds", () => {
  const row = (mix: string, load: number, seeds: number): PartRow => {
    const values = Array.from({ length: seeds }, () => 1);
    return {
      ...{ mix, load, floor: 50, system: "joint", part: "all", meanSeconds: values, p95Seconds: values },
      ...{ secondsPerToken: values, withinSlo: values, quality: values },
    };
  };
  const own = row("mix 1", 0.5, 10);
  const others = [row("mix 2", 0.5, 10), row("mix 1", 0.8, 10), row("mix 1", 0.5, 2)];
  expect(keptAt([own, ...others], { mix: "mix 1", load: 0.5, seeds: 10 })).toEqual([own]);
});

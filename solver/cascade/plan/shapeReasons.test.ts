import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityTable, replicasFor, secondsOnReplicas } from "../tables/capacityTable";
import type { ShapeCurve } from "../tables/shapeMix";
import { shapeReason } from "./shapeReasons";

/** Replicas of tp GPUs: faster with more of them, and less per GPU. */
function curveOf(tp: number, gain: number): ShapeCurve {
  const highest = 4 * tp ** (0.7 + 0.3 * gain);
  return {
    gpu: "a",
    shape: { tp, pp: 1 },
    gpus: tp,
    curve: {
      rates: Float64Array.from([0.1, 0.5, 0.8, 1], (share) => share * highest),
      seconds: Float64Array.from([1, 1.2, 1.8, 3], (factor) => factor / tp ** gain),
      saturationRequestsPerSecond: 1.1 * highest,
    },
  };
}

const GPUS = 16;

describe("shapeReason", () => {
  it("says of every neighbour just what the stage's load takes on it, and never that one is faster than the best replicas", () => {
    const cases = fc.tuple(fc.double({ min: 0.1, max: 0.9, noNaN: true }), fc.double({ min: 1, max: 40, noNaN: true }));
    fc.assert(
      fc.property(cases, ([gain, requestsPerSecond]) => {
        const table = capacityTable(
          [1, 2, 4, 8].map((tp) => curveOf(tp, gain)),
          GPUS,
        );
        const best = replicasFor(table, requestsPerSecond, GPUS);
        if (best === null) return;
        const says = shapeReason({ table, replicas: best.replicas, fitting: table.shapes, gpusPerNode: 8 });
        expect(says).not.toContain("faster");
        const carried = best.replicas.reduce((sum, own) => sum + own.count * own.requestsPerSecond, 0);
        const now = secondsOnReplicas(table, carried, best.replicas);
        const gpus = best.replicas.reduce((sum, { shape, count }) => sum + shape.tp * count, 0);
        for (const [, tp, count, percent] of says.matchAll(/tp (\d+) alone, (\d+) replicas?, would be ([0-9.]+) % slower/g)) {
          const one = table.shapes.find(({ shape }) => shape.tp === Number(tp))!;
          expect(Number(count)).toBe(Math.floor(gpus / Number(tp)));
          const then = secondsOnReplicas(table, carried, [{ shape: one.shape, count: Number(count) }]);
          expect(Math.abs(100 * (then / now - 1) - Number(percent))).toBeLessThan(0.51);
        }
      }),
    );
  });

  it("tells shapes that no node holds, that do not fit, that do not keep up and that were not worth a table", () => {
    const table = capacityTable([curveOf(2, 0.5), curveOf(4, 0.5)], GPUS);
    const four = table.shapes[1]!;
    const at = (requestsPerSecond: number, more: Partial<Parameters<typeof shapeReason>[0]> = {}): string =>
      shapeReason({
        table,
        replicas: [{ gpu: "a", shape: four.shape, count: 4, requestsPerSecond: requestsPerSecond / 4 }],
        fitting: table.shapes,
        gpusPerNode: 4,
        ...more,
      });
    expect(at(8)).toMatch(/^4 × tp 4: tp 2 alone, 8 replicas, would be \d+ % slower at this load; tp 8 alone has no node of 8 GPUs\.$/);
    expect(at(8, { fitting: [four] })).toContain("tp 2 alone does not fit");
    expect(at(8, { gpusPerNode: 8 })).toContain("tp 8 alone does not fit");
    expect(at(8, { gpusPerNode: 8, fitting: [...table.shapes, { shape: { tp: 8, pp: 1 } }] })).toContain(
      "tp 8 alone is no better at any load",
    );
    const two = table.shapes[0]!;
    const slow = shapeReason({
      table,
      replicas: [{ gpu: "a", shape: two.shape, count: 2, requestsPerSecond: 6.5 }],
      fitting: table.shapes,
      gpusPerNode: 4,
    });
    expect(slow).toContain("tp 4 alone, 1 replica, is overloaded at this load");
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityTable, latencyByGpus, replicasFor } from "./capacityTable";
import { gpusByType, meanUsdPerGpuHour } from "./gpuMix";
import type { ShapeCurve } from "./shapeMix";

const mixes = fc
  .array(fc.integer({ min: 1, max: 24 }), { minLength: 1, maxLength: 4 })
  .map((counts) => counts.map((gpus, type) => ({ gpu: `type-${type}`, gpus })));

describe("gpusByType", () => {
  it("shares out every count, never takes a GPU of a type away, and stays within a GPU or so of each type's share", () => {
    fc.assert(
      fc.property(mixes, (mix) => {
        const all = mix.reduce((sum, { gpus }) => sum + gpus, 0);
        const byType = gpusByType(mix);
        for (let f = 1; f <= all; f += 1) {
          expect(byType.reduce((sum, own) => sum + own[f]!, 0)).toBe(f);
          for (const [type, own] of byType.entries()) {
            expect(own[f]).toBeGreaterThanOrEqual(own[f - 1]!);
            expect(Math.abs(own[f]! - (f * mix[type]!.gpus) / all)).toBeLessThan(2);
          }
        }
        expect(byType.map((own) => own[all])).toEqual(mix.map(({ gpus }) => gpus));
      }),
    );
  });

  it("prices one type at just its price, and a mix between its cheapest and its dearest", () => {
    fc.assert(
      fc.property(mixes, fc.double({ min: 0.1, max: 9, noNaN: true }), (mix, price) => {
        const prices = Object.fromEntries(mix.map(({ gpu }, type) => [gpu, price * (type + 1)]));
        const mean = meanUsdPerGpuHour(mix, prices);
        if (mix.length === 1) expect(mean).toBe(price);
        expect(mean).toBeGreaterThanOrEqual(price);
        expect(mean).toBeLessThanOrEqual(price * mix.length * (1 + 1e-12));
      }),
    );
  });
});

/** An artificial curve on a type of GPU that is `speed` times as fast as the first. */
function curveOn(gpu: string, gpus: number, speed: number): ShapeCurve {
  const highest = 4 * gpus ** 0.9 * speed;
  return {
    gpu,
    shape: { tp: gpus, pp: 1 },
    gpus,
    curve: {
      rates: Float64Array.from([0.1, 0.5, 0.8, 1], (share) => share * highest),
      seconds: Float64Array.from([1, 1.2, 1.8, 3], (factor) => factor / gpus ** 0.5 / speed),
      saturationRequestsPerSecond: 2 * highest,
    },
  };
}

describe("capacityTable of several GPU types", () => {
  const mix = [
    { gpu: "fast", gpus: 8 },
    { gpu: "slow", gpus: 8 },
  ];
  const shapes = [1, 2, 4].flatMap((gpus) => [curveOn("fast", gpus, 1), curveOn("slow", gpus, 0.6)]);

  it("lies between the same GPUs all of the one type and all of the other", () => {
    const seconds = (own: readonly ShapeCurve[], of?: typeof mix): Float64Array => {
      const found = new Float64Array(16);
      latencyByGpus(capacityTable(own, 16, of), 9, found);
      return found;
    };
    const [mixed, fast, slow] = [seconds(shapes, mix), ...["fast", "slow"].map((gpu) => seconds(shapes.filter((one) => one.gpu === gpu)))];
    for (const [index, own] of mixed!.entries()) {
      expect(own).toBeGreaterThanOrEqual(fast![index]! * 0.999);
      expect(own).toBeLessThanOrEqual(slow![index]! * 1.001);
    }
    expect([...mixed!]).toEqual([...mixed!].sort((a, b) => b - a));
  });

  it("puts replicas on no more GPUs of a type than its share", () => {
    const byType = gpusByType(mix);
    for (const gpus of [12, 14, 16]) {
      const found = replicasFor(capacityTable(shapes, 16, mix), 30, gpus);
      expect(found?.replicas.some(({ gpu }) => gpu === "slow")).toBe(true);
      for (const [type, { gpu }] of mix.entries()) {
        const used = found?.replicas.filter((one) => one.gpu === gpu).reduce((sum, { shape, count }) => sum + shape.tp * count, 0);
        expect(used).toBeLessThanOrEqual(byType[type]![gpus]!);
      }
    }
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { loadText, stageStability } from "./stageStability";

const off = (meanAbsolute: number) => ({ rows: 60, meanAbsolute, p90Absolute: 2 * meanAbsolute, bias: 0 });
const profile = (meanAbsolute: number) => ({ name: "Ours", errors: { ttft: off(0.5), tpot: off(0.5), endToEnd: off(meanAbsolute) } });
const stage = (utilisation: number) => ({ model: "small", utilisation });

it("flags a stage from 85 % of saturation on, and calls it unstable from saturation on, where the profile is exact", () => {
  const words = [0.849, 0.85, 0.999, 1].map((utilisation) => stageStability(stage(utilisation), profile(0)));
  expect(words).toEqual(["stable", "near-saturation", "near-saturation", "unstable"]);
  expect(stageStability(stage(0.849), { errors: null })).toBe("stable");
});

it("flags earlier by as much as the profile may be off", () => {
  expect([0.764, 0.766, 0.899, 0.901].map((utilisation) => stageStability(stage(utilisation), profile(0.1)))).toEqual([
    "stable",
    "near-saturation",
    "near-saturation",
    "unstable",
  ]);
});

it("never calls a stage more stable for a larger load or a larger error", () => {
  const order = ["stable", "near-saturation", "unstable"];
  const share = fc.double({ min: 0, max: 1.2, noNaN: true });
  fc.assert(
    fc.property(share, share, share, share, (load, more, error, larger) => {
      const calm = order.indexOf(stageStability(stage(load), profile(error)));
      expect(order.indexOf(stageStability(stage(load + more), profile(error + larger)))).toBeGreaterThanOrEqual(calm);
    }),
  );
});

it("says where a stage stands and by how much that may be off", () => {
  expect(loadText(stage(0.88), profile(0.06))).toBe(
    'small stands at 88 % of its predicted saturation rate, which the engine profile "Ours" misses by 6 % on average',
  );
  expect(loadText(stage(0.88), { name: "Ours", errors: null })).toBe("small stands at 88 % of its predicted saturation rate");
});

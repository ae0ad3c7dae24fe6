import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { thinRun } from "./seriesPath";

const run = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 2000 }).map((values) => {
  const step = 200 / values.length;
  return values.map((y, index) => ({ x: index * step, y }));
});

describe("thinRun", () => {
  it("keeps first, last, lowest and highest, in order of time, of points that were there", () => {
    fc.assert(
      fc.property(run, (points) => {
        const thin = thinRun(points);
        const ys = (of: typeof thin) => of.map(({ y }) => y);
        expect(thin[0]).toBe(points[0]);
        expect(thin.at(-1)).toBe(points.at(-1));
        expect([Math.min(...ys(thin)), Math.max(...ys(thin))]).toEqual([Math.min(...ys(points)), Math.max(...ys(points))]);
        expect(thin.every((point, index) => index === 0 || point.x > (thin[index - 1]?.x ?? 0))).toBe(true);
        expect(thin.every((point) => points.includes(point))).toBe(true);
      }),
    );
  });

  it("keeps about one point for two pixels at most", () => {
    fc.assert(
      fc.property(run, (points) => {
        expect(thinRun(points).length).toBeLessThanOrEqual(104);
      }),
    );
  });

  it("leaves a run alone that is not too dense", () => {
    const points = [0, 10, 20].map((x) => ({ x, y: 1 }));
    expect(thinRun(points)).toBe(points);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestPoint, prepareScatter, type ScatterInput } from "./prepareScatter";

const point = (measured: number, predicted: number, key = 0): ScatterInput => ({ key, measured, predicted, letter: "A", hue: "red" });

describe("a chart of predicted against measured", () => {
  it("puts a right prediction on the diagonal, whatever its size", () => {
    const picture = prepareScatter([point(0.01, 0.01), point(3, 3), point(40, 20)]);
    for (const { x, y, measured, predicted } of picture?.points ?? []) if (measured === predicted) expect(y).toBeCloseTo(x, 12);
    expect(picture?.counts).toEqual({ drawn: 3, inBand: 2, clipped: 0, leftOut: 0 });
  });

  it("draws the band where predictions are 10 % too high and too low", () => {
    const picture = prepareScatter([point(1, 1.1), point(10, 9)]);
    const [high, low] = picture?.points ?? [];
    expect(high!.y - high!.x).toBeCloseTo(picture!.bandUp, 12);
    expect(low!.x - low!.y).toBeCloseTo(picture!.bandDown, 12);
  });

  it("draws a prediction that is far off at the edge, so that the others keep their room", () => {
    const picture = prepareScatter([point(1, 1), point(2, 2), point(1.5, 900), point(1.5, 0.001)]);
    expect(picture?.points.map(({ clipped, y }) => [clipped, y === 0 || y === 1])).toEqual([
      [null, false],
      [null, false],
      ["above", true],
      ["below", true],
    ]);
    expect(picture?.domain[1]).toBeLessThan(10);
    expect(picture?.counts.clipped).toBe(2);
  });

  it("leaves out what has no place on a logarithm, and says there is nothing to draw when nothing is left", () => {
    expect(prepareScatter([point(0, 1), point(1, Number.NaN), point(Number.POSITIVE_INFINITY, 1)])).toBeNull();
    expect(prepareScatter([point(0, 1), point(1, 1)])?.counts).toMatchObject({ drawn: 1, leftOut: 1 });
  });

  it("has finer steps where the range is narrow", () => {
    const labels = (...measured: number[]) =>
      prepareScatter(measured.map((each) => point(each, each)))!.ticks.flatMap(({ seconds, labelled }) => (labelled ? [seconds] : []));
    expect(labels(6, 7)).toEqual([5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5]);
    expect(labels(0.00811, 0.00812)).toEqual([0.0065, 0.007, 0.0075, 0.008, 0.0085, 0.009, 0.0095, 0.01]);
    expect(labels(1, 9)).toEqual([1, 2, 5, 10]);
  });

  it("has every point and every tick inside the plot, and at least three numbers on an axis", () => {
    const seconds = fc.double({ min: 1e-4, max: 1e4, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(seconds, seconds), { minLength: 1 }), (pairs) => {
        const picture = prepareScatter(pairs.map(([measured, predicted]) => point(measured, predicted)))!;
        const inside = (value: number) => value >= 0 && value <= 1;
        expect(picture.points.every(({ x, y }) => inside(x) && inside(y))).toBe(true);
        expect(picture.ticks.every(({ at }) => inside(at))).toBe(true);
        const labels = picture.ticks.filter((tick) => tick.labelled).length;
        expect(labels).toBeGreaterThanOrEqual(3);
        expect(labels).toBeLessThanOrEqual(16);
        expect(picture.counts.drawn + picture.counts.leftOut).toBe(pairs.length);
      }),
    );
  });

  it("finds the point nearest to the pointer, and none where none is near", () => {
    const picture = prepareScatter([point(1, 1, 1), point(10, 10, 2)])!;
    const [first] = picture.points;
    const plot = { width: 400, height: 400, reach: 12 };
    expect(nearestPoint(picture, { x: first!.x * 400 + 5, y: (1 - first!.y) * 400 }, plot)?.key).toBe(1);
    expect(nearestPoint(picture, { x: 200, y: 20 }, plot)).toBeNull();
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { type LineInput, nearestOf, prepareLines } from "./prepareLines";

const axis = { title: "seconds", format: (value: number) => `${Number(value.toPrecision(3))}` };
const line = (points: readonly (readonly [number, number])[], key = "a"): LineInput => ({
  ...{ key, name: key, letter: "A", hue: "red", dash: "" },
  points: points.map(([x, y]) => ({ x, y, xSpan: null, ySpan: null, tag: "" })),
});

it("draws nothing of nothing, and leaves out what is no number", () => {
  expect(prepareLines({ lines: [line([])], x: axis, y: axis, marked: true })).toBeNull();
  expect(prepareLines({ lines: [line([[1, Number.NaN]])], x: axis, y: axis, marked: true })).toBeNull();
  expect(
    prepareLines({
      lines: [
        line([
          [1, 1],
          [2, Number.POSITIVE_INFINITY],
        ]),
      ],
      x: axis,
      y: axis,
      marked: true,
    })?.points,
  ).toHaveLength(1);
});

it("keeps every point and tick inside the plot", () => {
  const value = fc.double({ min: 1e-4, max: 1e5, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 12 }), (points) => {
      const picture = prepareLines({ lines: [line(points)], x: axis, y: { ...axis, fromZero: true }, marked: true });
      for (const { x, y } of picture?.points ?? []) expect(Math.min(x, y, 1 - x, 1 - y)).toBeGreaterThanOrEqual(0);
      for (const { at } of [...(picture?.x.ticks ?? []), ...(picture?.y.ticks ?? [])]) expect(at).toBeGreaterThanOrEqual(-1e-9);
      expect(picture?.points).toHaveLength(points.length);
    }),
  );
});

it("says so where an axis is logarithmic, which one far value makes it", () => {
  const near = prepareLines({
    lines: [
      line([
        [1, 1],
        [2, 3],
      ]),
    ],
    x: axis,
    y: axis,
    marked: true,
  });
  const far = prepareLines({
    lines: [
      line([
        [1, 1],
        [2, 300],
      ]),
    ],
    x: axis,
    y: axis,
    marked: true,
  });
  expect([near?.y.title, far?.y.title]).toEqual(["seconds", "seconds, logarithmic"]);
});

it("finds the point that a pointer means, and none far away", () => {
  const picture = prepareLines({
    lines: [
      line([
        [0, 0],
        [10, 10],
      ]),
    ],
    x: axis,
    y: axis,
    marked: true,
  });
  if (picture === null) throw new Error("a picture is expected");
  const plot = { width: 100, height: 100, reach: 20 };
  expect(nearestOf(picture, { x: 92, y: 8 }, plot)?.key).toBe("a 1");
  expect(nearestOf(picture, { x: 50, y: 50 }, plot)).toBeNull();
});

it("puts letters of points that lie upon one another side by side, towards the middle, and leaves others where they are", () => {
  const upon = (x: number): LineInput[] => ["a", "b", "c"].map((key) => line([[x, 1]], key));
  const picture = prepareLines({
    lines: [...upon(1), ...upon(9), line([[5, 1]], "d")],
    x: { ...axis, domain: [0, 10] },
    y: axis,
    marked: true,
  });
  expect(picture?.points.map(({ beside }) => beside)).toEqual([0, 1, 2, 0, -1, -2, 0]);
});

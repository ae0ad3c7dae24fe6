import { expect, it } from "vitest";
import { prepareHistogram } from "./prepareHistogram";

it("places bars by their edges and scales them to the fullest bin", () => {
  const { bars, total } = prepareHistogram({ edges: [0, 10, 40], counts: [5, 20] }, String);
  expect(bars.map((bar) => [bar.x, bar.width, bar.height])).toEqual([
    [0, 0.25, 0.25],
    [0.25, 0.75, 1],
  ]);
  expect(total).toBe(25);
});

it("draws an empty histogram as empty bins rather than dividing by zero", () => {
  expect(prepareHistogram({ edges: [0, 0], counts: [0] }, String).bars[0]).toMatchObject({ width: 0, height: 0 });
});

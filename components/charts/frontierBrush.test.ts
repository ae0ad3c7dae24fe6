import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FrontierAxes } from "./frontierAxes";
import { brushBetween, brushByKey, inBrush } from "./frontierBrush";

const axes: FrontierAxes = { x: "quality", y: "latency" };
const view = { xDomain: [60, 80], yDomain: [0, 10] } as const;
const around = { x: 70, y: 5 };

describe("a brush", () => {
  it("is the same from whichever corner it is drawn, on round values, and none without extent", () => {
    const a = { x: 70.04, y: 5.0042 };
    const b = { x: 64.96, y: 2.0041 };
    expect(brushBetween(a, b, axes)).toEqual({ x: [65, 70], y: [2, 5] });
    expect(brushBetween(b, a, axes)).toEqual(brushBetween(a, b, axes));
    expect(brushBetween(a, { ...b, x: 70 }, axes)).toBeNull();
  });

  it("holds the plans of its rectangle, edges among them, and no other", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 20 }), (quality, latency) => {
        const inside = inBrush({ quality, latency, cost: 0, gpus: 0 }, axes, { x: [5, 15], y: [8, 12] });
        expect(inside).toBe(quality >= 5 && quality <= 15 && latency >= 8 && latency <= 12);
      }),
    );
  });

  it("begins around the plan at hand, grows and shrinks by keys, and is gone when it is shrunk away", () => {
    const first = brushByKey(null, "right", { view, axes, around });
    expect(first).toEqual({ x: [68, 72], y: [4, 6] });
    expect(brushByKey(first, "right", { view, axes, around })).toEqual({ x: [68, 73], y: [4, 6] });
    expect(brushByKey(first, "up", { view, axes, around })).toEqual({ x: [68, 72], y: [4, 6.5] });
    expect(brushByKey(first, "down", { view, axes, around })).toEqual({ x: [68, 72], y: [4, 5.5] });
    const narrow = { x: [68, 69], y: [4, 6] } as const;
    expect(brushByKey(narrow, "left", { view, axes, around })).toBeNull();
  });

  it("stays inside the axes", () => {
    const wide = { x: [60, 80], y: [0, 10] } as const;
    expect(brushByKey(wide, "right", { view, axes, around })).toEqual(wide);
    expect(brushByKey(wide, "up", { view, axes, around })).toEqual(wide);
  });

  it("moves by whole GPUs on an axis too short for a twentieth of it", () => {
    const few = { x: "gpus", y: "latency" } as const;
    const next = brushByKey({ x: [2, 4], y: [1, 2] }, "right", { view: { xDomain: [0, 9], yDomain: [0, 10] }, axes: few, around });
    expect(next?.x).toEqual([2, 5]);
  });
});

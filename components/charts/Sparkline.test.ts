import { expect, it } from "vitest";
import { prepareSparkline } from "./Sparkline";

const box = { width: 10, height: 10 };

it("lifts the pen over a gap instead of drawing through it", () => {
  expect(prepareSparkline([0, 1, null, 0.5], box).match(/M/g)).toHaveLength(2);
});

it("draws nothing when nothing is known", () => {
  expect(prepareSparkline([null, null], box)).toBe("");
});

it("keeps values beyond the scale inside the box", () => {
  expect(prepareSparkline([2, -1], box)).toBe("M0.0 0.0h0.5L10.0 10.0");
});

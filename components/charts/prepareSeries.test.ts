import { describe, expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { MAX_SERIES, prepareSeries, type Series, sumKnown } from "./prepareSeries";

const frame = (second: number, requestsPerSecond: number | null) =>
  ({ atMs: second * 1000, gateway: { requestsPerSecond } }) as unknown as LiveFrame;
const rate: Series = { key: "rate", name: "requests", hue: "red", dashed: false, read: (each) => each.gateway.requestsPerSecond };

describe("prepareSeries", () => {
  it("keeps an absent value a gap and never makes it zero", () => {
    const { rows } = prepareSeries([frame(1, 5), frame(2, null), frame(3, 6)], [rate], 60);
    expect(rows.map((row) => row.rate)).toEqual([5, null, 6]);
  });

  it("breaks the line where no frame came for seconds", () => {
    const { rows } = prepareSeries([frame(1, 5), frame(10, 6)], [rate], 60);
    expect(rows.map((row) => row.rate)).toEqual([5, null, 6]);
  });

  it("shows only the range asked for, counted from the newest frame", () => {
    const frames = Array.from({ length: 100 }, (_, second) => frame(second, second));
    expect(prepareSeries(frames, [rate], 10).rows.map((row) => row.rate)[0]).toBe(89);
  });

  it("says when there is nothing to draw, and how many series it left out", () => {
    const many = Array.from({ length: MAX_SERIES + 3 }, (_, index) => ({ ...rate, key: `s${index}` }));
    const picture = prepareSeries([frame(1, null)], many, 60);
    expect(picture.hasValues).toBe(false);
    expect(picture.omitted).toBe(3);
  });
});

describe("sumKnown", () => {
  it("adds what is known and is absent when nothing is", () => {
    expect(sumKnown([1, null, 2])).toBe(3);
    expect(sumKnown([null, null])).toBeNull();
  });
});

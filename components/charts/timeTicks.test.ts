import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeTicks } from "./timeTicks";

const at = (text: string): number => Date.parse(`2026-03-05T${text}Z`);
const texts = (fromMs: number, toMs: number, count: number, offset = 0) =>
  timeTicks({ fromMs, toMs }, count, () => offset).map(({ text }) => text);

describe("timeTicks", () => {
  it("stands on round clock times", () => {
    expect(texts(at("10:00:20"), at("10:05:20"), 5)).toEqual(["10:01", "10:02", "10:03", "10:04", "10:05"]);
    expect(texts(at("10:00:20"), at("10:00:58"), 4)).toEqual(["10:00:20", "10:00:30", "10:00:40", "10:00:50"]);
  });

  it("is round in local time, and names the day at midnight", () => {
    expect(texts(at("00:00:00"), at("00:00:00") + 86_400_000, 4, 330)).toEqual(["06:00", "12:00", "18:00", "6 Mar"]);
    expect(texts(at("12:00:00"), at("12:00:00") + 3 * 86_400_000, 4)).toEqual(["6 Mar", "7 Mar", "8 Mar"]);
  });

  it("is round in local time on both sides of a change of the clocks", () => {
    const change = at("01:00:00");
    const [earlier, later] = [change - 12 * 3_600_000, change + 12 * 3_600_000];
    const clock = (before: number, after: number) =>
      timeTicks({ fromMs: earlier, toMs: later }, 5, (atMs) => (atMs < change ? before : after)).map(({ atMs, text }) => [
        (atMs - change) / 3_600_000,
        text,
      ]);
    // 2:00 becomes 3:00, and 3:00 becomes 2:00.
    expect(clock(60, 120)).toEqual([
      [-8, "18:00"],
      [-2, "5 Mar"],
      [3, "06:00"],
      [9, "12:00"],
    ]);
    expect(clock(120, 60)).toEqual([
      [-9, "18:00"],
      [-3, "5 Mar"],
      [4, "06:00"],
      [10, "12:00"],
    ]);
  });

  it("makes no more ticks than asked for, and spreads them, however long the window is", () => {
    const began = performance.now();
    const ticks = timeTicks({ fromMs: 0, toMs: 8.64e15 }, 6, () => 0);
    expect(performance.now() - began).toBeLessThan(200);
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(ticks.at(-1)?.atMs).toBeGreaterThan(6e15);
  });

  it("gives ticks inside the window, no more than asked for, at even steps", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2e12 }),
        fc.integer({ min: 1000, max: 31 * 86_400_000 }),
        fc.integer({ min: 1, max: 12 }),
        (fromMs, span, count) => {
          const ticks = timeTicks({ fromMs, toMs: fromMs + span }, count, () => 60);
          expect(ticks.length).toBeLessThanOrEqual(count);
          expect(ticks.every(({ atMs }) => atMs >= fromMs && atMs <= fromMs + span)).toBe(true);
          const steps = new Set(ticks.slice(1).map(({ atMs }, index) => atMs - (ticks[index]?.atMs ?? 0)));
          expect(steps.size).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

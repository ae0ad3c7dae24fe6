import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeTicks } from "./timeTicks";

const at = (text: string): number => Date.parse(`2026-03-05T${text}Z`);
const texts = (fromMs: number, toMs: number, count: number, offset = 0) =>
  timeTicks({ fromMs, toMs }, count, offset).map(({ text }) => text);

describe("timeTicks", () => {
  it("stands on round clock times", () => {
    expect(texts(at("10:00:20"), at("10:05:20"), 5)).toEqual(["10:01", "10:02", "10:03", "10:04", "10:05"]);
    expect(texts(at("10:00:20"), at("10:00:58"), 4)).toEqual(["10:00:20", "10:00:30", "10:00:40", "10:00:50"]);
  });

  it("is round in local time, and names the day at midnight", () => {
    expect(texts(at("00:00:00"), at("00:00:00") + 86_400_000, 4, 330)).toEqual(["06:00", "12:00", "18:00", "6 Mar"]);
    expect(texts(at("12:00:00"), at("12:00:00") + 3 * 86_400_000, 4)).toEqual(["6 Mar", "7 Mar", "8 Mar"]);
  });

  it("gives ticks inside the window, no more than asked for, at even steps", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2e12 }),
        fc.integer({ min: 1000, max: 31 * 86_400_000 }),
        fc.integer({ min: 1, max: 12 }),
        (fromMs, span, count) => {
          const ticks = timeTicks({ fromMs, toMs: fromMs + span }, count, 60);
          expect(ticks.length).toBeLessThanOrEqual(count);
          expect(ticks.every(({ atMs }) => atMs >= fromMs && atMs <= fromMs + span)).toBe(true);
          const steps = new Set(ticks.slice(1).map(({ atMs }, index) => atMs - (ticks[index]?.atMs ?? 0)));
          expect(steps.size).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

import { describe, expect, it } from "vitest";
import {
  ABSENT,
  formatAge,
  formatCounted,
  formatDelta,
  formatPercent,
  formatPercentSpan,
  formatRate,
  formatScore,
  formatScoreBound,
  formatScoreMargin,
  formatScoreSpan,
  formatSeconds,
  formatSecondsSpan,
  formatShare,
  formatUsd,
} from "./format";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("format", () => {
  it("keeps three significant digits of a latency", () => {
    expect([0.34, 1.239, 11.21, 118.4].map(formatSeconds).map(plain)).toEqual(["340 ms", "1.24 s", "11.2 s", "118 s"]);
  });

  it("rounds the ends of a span outwards and a lower bound down, but not what stands on a digit", () => {
    expect(formatScoreBound(61.96)).toBe("61.9");
    expect([60.3, 62, 0.1 + 0.2].map(formatScoreBound)).toEqual(["60.3", "62.0", "0.3"]);
    expect(formatScoreSpan({ low: 60.29, high: 63.11 })).toBe("60.2 to 63.2");
    expect(plain(formatSecondsSpan({ low: 1.239, high: 11.21 }))).toBe("1.23 s to 11.3 s");
    expect(plain(formatPercentSpan({ low: 0.389, high: 0.421 }))).toBe("38 % to 43 %");
  });

  it("says in words that an overloaded plan has no latency", () => {
    expect(formatSeconds(Number.POSITIVE_INFINITY)).toBe("overloaded");
  });

  it("never turns an absent value into a zero", () => {
    for (const format of [formatSeconds, formatScore, formatPercent, formatRate, formatUsd]) {
      expect(format(null)).toBe(ABSENT);
      expect(format(undefined)).toBe(ABSENT);
      expect(format(Number.NaN)).toBe(ABSENT);
    }
  });

  it("gives small prices enough digits to tell two plans apart", () => {
    expect(formatUsd(0.00214)).toBe("$0.00214");
    expect(formatUsd(0.00000123)).toBe("$0.00000123");
    expect(formatUsd(12.8)).toBe("$12.80");
  });

  it("writes the sign of a change, and none for no change", () => {
    expect(formatDelta(1.84, 1)).toBe("+1.8");
    expect(formatDelta(-0.9, 1)).toBe("−0.9");
    expect(formatDelta(-0.01, 1)).toBe("±0");
  });

  it("never rounds half the width of an interval down to nothing", () => {
    expect([formatScoreMargin(0.004), formatScoreMargin(0.4), formatScoreMargin(1.41), formatScoreMargin(0)]).toEqual([
      "0.1",
      "0.4",
      "1.5",
      "0.0",
    ]);
  });

  it("coarsens an age as it grows", () => {
    expect([0.4, 14, 200, 7200, 400_000].map(formatAge).map(plain)).toEqual(["now", "14 s", "3 min", "2 h", "5 d"]);
  });

  it("puts a noun in the singular for one", () => {
    expect([0, 1, 2430].map((count) => formatCounted(count, "row"))).toEqual(["0 rows", "1 row", "2,430 rows"]);
  });
});

it("calls a share none only where it is none", () => {
  expect([0, 0.0004, 0.0049, 0.005, 0.714, null].map(formatShare)).toEqual([
    "0\u00a0%",
    "<1\u00a0%",
    "<1\u00a0%",
    "1\u00a0%",
    "71\u00a0%",
    "–",
  ]);
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { formatTau } from "./tauText";

it("says a tau as votes of those asked where it is such a share, and aggregating all as that", () => {
  expect(formatTau(2 / 3, 3)).toBe("2/3");
  expect(formatTau(0.5, 4)).toBe("2/4");
  expect(formatTau(0.7, 3)).toBe("0.7");
  expect(formatTau(0.123456, 3)).toBe("0.123");
  expect(formatTau(1, 3)).toBe("1");
  expect(formatTau(1.5, 3)).toBe("aggregate all");
});

it("says different shares of votes differently", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 16 }), (asked) => {
      const texts = Array.from({ length: asked }, (_, at) => formatTau((at + 1) / asked, asked));
      expect(new Set(texts).size).toBe(asked);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { densestValue } from "./densestValue";

const steps = (value: (probability: number) => number): readonly number[] => Array.from({ length: 33 }, (_, at) => value(at / 32));

test("lies where the quantiles are closest together", () => {
  expect(densestValue(steps((p) => 10 * p ** 2))).toBeLessThan(0.1);
  expect(densestValue(steps((p) => 10 * Math.sqrt(p)))).toBeGreaterThan(9);
  expect(densestValue(steps((p) => (p < 0.3 ? p : p < 0.6 ? 5 + p / 100 : 10 + p)))).toBeCloseTo(5, 1);
});

test("without a densest part it is the middle, of nothing null", () => {
  expect(densestValue(steps((p) => 32 * p))).toBe(16);
  expect(densestValue(steps(() => 4))).toBe(4);
  expect(densestValue([])).toBeNull();
});

test("follows scale and shift", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 33, maxLength: 33 }),
      fc.nat(50),
      fc.integer({ min: 1, max: 8 }),
      (values, shift, scale) => {
        const sorted = values.toSorted((a, b) => a - b);
        expect(densestValue(sorted.map((value) => scale * value + shift))).toBe(scale * (densestValue(sorted) ?? 0) + shift);
      },
    ),
  );
});

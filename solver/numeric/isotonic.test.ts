import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isotonicBlocks } from "./isotonic";

const points = (values: readonly number[]) => values.map((value, at) => ({ at, value, weight: 1 }));

describe("isotonicBlocks", () => {
  it("pools neighbours that fall, and those that this makes fall", () => {
    expect(isotonicBlocks(points([1, 3, 2, 4]))).toEqual([
      { at: 0, value: 1, weight: 1 },
      { at: 1.5, value: 2.5, weight: 2 },
      { at: 3, value: 4, weight: 1 },
    ]);
    expect(isotonicBlocks(points([4, 3, 2, 1]))).toEqual([{ at: 1.5, value: 2.5, weight: 4 }]);
  });

  it("weighs points", () => {
    const [block] = isotonicBlocks([
      { at: 0, value: 8, weight: 3 },
      { at: 4, value: 4, weight: 1 },
    ]);
    expect(block).toEqual({ at: 1, value: 7, weight: 4 });
  });

  it("ascends, keeps the total, and has no block that could be split to come closer", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 40 }),
        (drawn) => {
          const given = drawn.map(([value, weight], at) => ({ at, value, weight }));
          const blocks = isotonicBlocks(given);
          const total = (of: typeof given) => of.reduce((sum, { value, weight }) => sum + value * weight, 0);
          expect(total([...blocks])).toBeCloseTo(total(given), 6);
          for (const [index, { at, value }] of blocks.entries()) {
            const before = blocks[index - 1];
            if (before === undefined) continue;
            expect(value).toBeGreaterThan(before.value);
            expect(at).toBeGreaterThan(before.at);
          }
          // Within a block no prefix may have a lower mean than the whole: else a split would ascend and be closer.
          let from = 0;
          for (const { value, weight } of blocks) {
            let [sum, seen] = [0, 0];
            while (seen < weight - 1e-9) {
              const point = given[from];
              from += 1;
              if (point === undefined) throw new Error("A block holds weight that no point has");
              sum += point.value * point.weight;
              seen += point.weight;
              expect(sum / seen).toBeGreaterThanOrEqual(value - 1e-9);
            }
          }
        },
      ),
    );
  });
});

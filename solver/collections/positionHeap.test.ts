import fc from "fast-check";
import { expect, test } from "vitest";
import { PositionHeap } from "./positionHeap";

test("gives positions in the order of a sort by key, tie and position", () => {
  const few = fc.integer({ min: -2, max: 2 });
  fc.assert(
    fc.property(fc.array(fc.tuple(few, few), { maxLength: 60 }), (ranks) => {
      const keys = Float64Array.from(ranks, ([key]) => key);
      const ties = Float64Array.from(ranks, ([, tie]) => tie);
      const heap = new PositionHeap(keys, ties);
      const expected = [...ranks.keys()].sort((a, b) => keys[a]! - keys[b]! || ties[a]! - ties[b]! || a - b);
      expect(ranks.map(() => heap.pop())).toEqual(expected);
      expect(heap.pop()).toBe(-1);
    }),
  );
});

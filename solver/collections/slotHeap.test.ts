import fc from "fast-check";
import { expect, test } from "vitest";
import { SlotHeap } from "./slotHeap";

test("slots come out by key, ties by their order, whatever was taken out in between", () => {
  const keys = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(keys, fc.array(fc.nat(39), { maxLength: 10 }), (values, removed) => {
      const heap = new SlotHeap(values.length);
      values.forEach((key, slot) => {
        heap.push(slot, key, slot);
      });
      for (const slot of removed) heap.remove(slot);
      const left = values.map((key, slot) => ({ key, slot })).filter(({ slot }) => !removed.includes(slot));
      left.sort((a, b) => a.key - b.key || a.slot - b.slot);
      for (const { key, slot } of left) {
        expect(heap.leastKey).toBe(key);
        expect(heap.pop()).toBe(slot);
      }
      expect(heap.pop()).toBe(-1);
      expect(heap.leastKey).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});

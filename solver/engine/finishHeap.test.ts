import fc from "fast-check";
import { expect, test } from "vitest";
import { FinishHeap } from "./finishHeap";

test("slots come out by step, ties by arrival order, whatever was taken out in between", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(steps, fc.array(fc.nat(39), { maxLength: 10 }), (values, removed) => {
      const heap = new FinishHeap(values.length);
      values.forEach((step, slot) => {
        heap.push(slot, step, slot);
      });
      for (const slot of removed) heap.remove(slot);
      const left = values.map((step, slot) => ({ step, slot })).filter(({ slot }) => !removed.includes(slot));
      left.sort((a, b) => a.step - b.step || a.slot - b.slot);
      for (const { step, slot } of left) {
        expect(heap.nextStep).toBe(step);
        expect(heap.pop()).toBe(slot);
      }
      expect(heap.pop()).toBe(-1);
      expect(heap.nextStep).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});

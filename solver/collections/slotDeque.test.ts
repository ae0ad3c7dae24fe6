import fc from "fast-check";
import { expect, test } from "vitest";
import { SlotDeque } from "./slotDeque";

test("the ring behaves as a plain list does under pushes at both ends, pops and removals", () => {
  const operation = fc.record({ kind: fc.constantFrom("pushBack", "pushFront", "popFront", "remove"), slot: fc.nat(30) });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const ring = new SlotDeque();
      let list: number[] = [];
      for (const { kind, slot } of operations) {
        if (kind === "popFront") expect(ring.popFront()).toBe(list.shift() ?? -1);
        else if (kind === "remove") {
          ring.remove(slot);
          list = list.filter((other) => other !== slot);
        } else if (kind === "pushBack") {
          ring.pushBack(slot);
          list.push(slot);
        } else {
          ring.pushFront(slot);
          list.unshift(slot);
        }
      }
      expect(Array.from({ length: ring.size }, (_, index) => ring.at(index))).toEqual(list);
    }),
  );
});

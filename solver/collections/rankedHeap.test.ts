import fc from "fast-check";
import { expect, test } from "vitest";
import { type Ranked, RankedHeap } from "./rankedHeap";

const ranks = fc.array(fc.record({ key: fc.nat(3), tie: fc.nat(3) }), { maxLength: 60 });
const sorted = (all: readonly Ranked[]) => [...all].sort((a, b) => a.key - b.key || a.tie - b.tie || a.order - b.order);

test("gives its entries back as sorting them would, whichever stood in it at first and whichever came", () => {
  fc.assert(
    fc.property(ranks, fc.nat(60), (drawn, first) => {
      const all = drawn.map((rank, order) => ({ ...rank, order }));
      const heap = new RankedHeap(all.slice(0, first));
      for (const entry of all.slice(first)) heap.push(entry);
      expect(heap.size).toBe(all.length);
      expect(all.map(() => heap.pop())).toEqual(sorted(all));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});

test("keeps its order when entries come and go by turns", () => {
  fc.assert(
    fc.property(ranks, fc.array(fc.nat(3)), (drawn, pops) => {
      const heap = new RankedHeap<Ranked>();
      let kept: Ranked[] = [];
      for (const [order, rank] of drawn.entries()) {
        const entry = { ...rank, order };
        heap.push(entry);
        kept = sorted([...kept, entry]);
        for (let left = pops[order] ?? 0; left > 0; left -= 1) expect(heap.pop()).toBe(kept.shift());
      }
      expect(sorted(heap.all())).toEqual(kept);
    }),
  );
});

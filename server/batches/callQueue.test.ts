import fc from "fast-check";
import { expect, it } from "vitest";
import { CallQueue } from "./callQueue";

it("gives every question until it is over, whatever becomes of attempts, and one by itself where an engine died of it", () => {
  const acts = fc.array(fc.constantFrom("take", "end", "back", "apart", "add"), { maxLength: 400 });
  fc.assert(
    fc.property(fc.nat(20), acts, (count, all) => {
      const queue = new CallQueue(Array.from({ length: count }, (_, position) => position));
      const open = new Set(Array.from({ length: count }, (_, position) => position));
      const out: number[] = [];
      const apart = new Set<number>();
      let added = count;
      const act = (what: string): void => {
        if (what === "add") {
          open.add(added);
          queue.add(added);
          added += 1;
        } else if (what === "take") {
          const position = queue.take();
          if (position === null) return;
          expect(open).toContain(position);
          expect(out).not.toContain(position);
          // A question that was set apart is the only one in flight.
          if (apart.delete(position)) expect(out).toEqual([]);
          out.push(position);
        } else {
          const position = out.shift();
          if (position === undefined) return;
          if (what === "end") open.delete(position);
          if (what === "end") queue.end();
          else if (what === "back") queue.giveBack(position, 0);
          else {
            apart.add(position);
            queue.setApart(position);
          }
        }
      };
      for (const what of all) {
        act(what);
        expect(queue.left).toBe(open.size);
      }
      for (let left = 2 * open.size + out.length; left > 0; left -= 1) {
        act("take");
        act("end");
      }
      expect(queue.left).toBe(0);
    }),
  );
});

it("wakes whoever waits when a question comes back after a while", async () => {
  const queue = new CallQueue([7]);
  expect(queue.take()).toBe(7);
  queue.giveBack(7, 5);
  expect(queue.take()).toBeNull();
  expect(queue.left).toBe(1);
  await queue.changed();
  expect(queue.take()).toBe(7);
  queue.end();
  expect(queue.left).toBe(0);
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap } from "./boundedMap";

const step = fc.record({ kind: fc.constantFrom("put", "put", "put", "delete", "clear", "take"), key: fc.constantFrom(..."abcdefgh") });

test("keeps what was put last, in that order, and says what goes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 5 }), (steps, bound) => {
      const map = new BoundedMap<string>(bound);
      let expected: string[] = [];
      for (const { kind, key } of steps) {
        if (kind === "put") {
          const gone = map.put(key, key);
          expected = [...expected.filter((other) => other !== key), key];
          expect(gone).toBe(expected.length > bound ? expected.shift() : undefined);
        } else if (kind === "delete") {
          map.delete(key);
          expected = expected.filter((other) => other !== key);
        } else if (kind === "take") {
          expect(map.takeOldest()).toBe(expected.shift());
        } else {
          map.clear();
          expected = [];
        }
        expect([...map.values()]).toEqual(expected);
        expect([map.size, map.has(key), map.get(key) ?? null]).toEqual([
          expected.length,
          expected.includes(key),
          expected.includes(key) ? key : null,
        ]);
      }
    }),
  );
});

test("holds on to nothing that is gone, however long nothing had to go for want of room", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const map = new BoundedMap<object>(1000);
  const values: WeakRef<object>[] = [];
  for (let at = 0; at < 20_000; at += 1) {
    const value = { at };
    values.push(new WeakRef(value));
    map.put(`${at}`, value);
    if (at >= 50) map.delete(`${at - 50}`);
  }
  // The target of a weak reference that was read or made is kept until the next turn.
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
  expect(map.size).toBe(50);
  expect(values.filter((value) => value.deref() !== undefined).length).toBeLessThan(500);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockLru } from "./blockLru";

/** Prompts as paths in a tree of few blocks, so that they share beginnings: a block's number tells all before it. */
const prompts = fc.array(fc.nat(2), { maxLength: 6 }).map((path) => {
  let block = 0;
  return Uint32Array.from(path, (step) => {
    block = 4 * block + step + 1;
    return block;
  });
});

describe("BlockLru", () => {
  it("holds what a list does that is sorted by last use and cut", () => {
    const uses = fc.array(fc.tuple(prompts, fc.nat(8)), { maxLength: 30 });
    fc.assert(
      fc.property(uses, prompts, (used, asked) => {
        const lru = new BlockLru();
        let naive: number[] = [];
        for (const [prompt, bound] of used) {
          lru.use(prompt, bound);
          naive = [...naive.filter((block) => !prompt.includes(block)), ...Array.from(prompt).reverse()].slice(-bound || naive.length + 99);
          expect(lru.size).toBe(naive.length);
        }
        const matched = Array.from(asked).findIndex((block) => !naive.includes(block));
        expect(lru.matched(asked)).toBe(matched < 0 ? asked.length : matched);
      }),
    );
  });

  it("drops the end of a prompt before its beginning", () => {
    const lru = new BlockLru();
    const prompt = Uint32Array.of(1, 2, 3, 4);
    lru.use(prompt, 2);
    expect(lru.matched(prompt)).toBe(2);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptBlocks, sharedBlocks } from "./promptBlocks";
import { sharedPrompts } from "./sharedPrompts";

const block = (name: string): string => name.repeat(256);
const texts = fc.array(fc.option(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 })), { minLength: 1, maxLength: 8 });

describe("sharedPrompts", () => {
  it("keeps of each text what it has in common with the most alike of all others", () => {
    fc.assert(
      fc.property(texts, (names) => {
        const all = names.map((parts) => (parts === null ? null : parts.map(block).join("")));
        const blocks = all.map((text) => promptBlocks(text ?? ""));
        const naive = blocks.map((own, row) => Math.max(0, ...blocks.map((one, other) => (other === row ? 0 : sharedBlocks(own, one)))));
        const found = sharedPrompts(all);
        if (found === undefined) expect(Math.max(...naive)).toBe(0);
        else expect(found).toEqual(blocks.map((own, row) => own.slice(0, naive[row])));
      }),
    );
  });
});

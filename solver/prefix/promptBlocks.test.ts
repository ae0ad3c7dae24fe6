import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOCK_TOKENS, MOST_BLOCKS, promptBlocks, sharedBlocks } from "./promptBlocks";

const characters = 4 * BLOCK_TOKENS;
const texts = fc.array(fc.constantFrom("a", "b", "é", "\ud83d\ude00"), { maxLength: 4 * characters }).map((parts) => parts.join(""));

describe("promptBlocks", () => {
  it("hashes as many blocks as two texts begin alike with to the same numbers, and no further one", () => {
    fc.assert(
      fc.property(texts, texts, texts, (prefix, one, other) => {
        const [first, second] = [prefix + one, prefix + other];
        let alike = 0;
        while (alike < first.length && alike < second.length && first[alike] === second[alike]) alike += 1;
        expect(sharedBlocks(promptBlocks(first), promptBlocks(second))).toBe(Math.floor(alike / characters));
      }),
    );
  });

  it("hashes whole blocks alone, and at most a bounded number", () => {
    expect(promptBlocks("x".repeat(characters - 1))).toHaveLength(0);
    expect(promptBlocks("x".repeat(2 * characters + 1))).toHaveLength(2);
    expect(promptBlocks("x".repeat((MOST_BLOCKS + 9) * characters))).toHaveLength(MOST_BLOCKS);
  });

  it("tells equal blocks at different places apart", () => {
    const blocks = promptBlocks("x".repeat(64 * characters));
    expect(new Set(blocks).size).toBe(64);
  });

  it("shares nothing between salts", () => {
    const text = "the same words ".repeat(200);
    expect(sharedBlocks(promptBlocks(text, 1), promptBlocks(text, 2))).toBe(0);
    expect(promptBlocks(text, 1)).toEqual(promptBlocks(text, 1));
  });
});

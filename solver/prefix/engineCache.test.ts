import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EngineCache } from "./engineCache";
import { BLOCK_TOKENS } from "./promptBlocks";

const path = fc.array(fc.nat(2), { minLength: 1, maxLength: 6 }).map((steps) => {
  let block = 0;
  return Uint32Array.from(steps, (step) => {
    block = 4 * block + step + 1;
    return block;
  });
});

/** Requests that enter a batch of at most three and leave it in any order, and the blocks that the batch leaves free. */
const runs = fc.array(fc.record({ prompt: path, leaves: fc.nat(2), freeBlocks: fc.nat(12) }), { maxLength: 40 });

describe("EngineCache", () => {
  it("finds what a plain list of held and freed blocks has, and keeps no more freed ones than there is room for", () => {
    fc.assert(
      fc.property(runs, (steps) => {
        const cache = new EngineCache();
        const running: { readonly request: number; readonly prompt: Uint32Array }[] = [];
        let freed: number[] = [];
        for (const [request, { prompt, leaves, freeBlocks }] of steps.entries()) {
          const held = new Set(running.flatMap((one) => Array.from(one.prompt)));
          freed = freed.slice(Math.max(0, freed.length - freeBlocks));
          const missing = Array.from(prompt).findIndex((block) => !held.has(block) && !freed.includes(block));
          const tokens = { promptTokens: prompt.length * BLOCK_TOKENS + 1, freeTokens: freeBlocks * BLOCK_TOKENS };
          expect(cache.enter(request, prompt, tokens)).toBe((missing < 0 ? prompt.length : missing) * BLOCK_TOKENS);
          expect(cache.freeBlocks).toBeLessThanOrEqual(freeBlocks);
          cache.computed(request, prompt);
          running.push({ request, prompt });
          freed = freed.filter((block) => !prompt.includes(block));
          const left = running.length > 2 ? running.splice(leaves % running.length, 1)[0] : undefined;
          if (left === undefined) continue;
          cache.leave(left.request);
          const still = new Set(running.flatMap((one) => Array.from(one.prompt)));
          const own = Array.from(left.prompt).filter((block) => !still.has(block));
          freed = [...freed.filter((block) => !own.includes(block)), ...own.reverse()];
          expect(cache.freeBlocks).toBe(freed.length);
        }
      }),
    );
  });

  it("finds a prompt only once it is computed, and never its last token", () => {
    const cache = new EngineCache();
    const prompt = Uint32Array.of(1, 2);
    const tokens = { promptTokens: 2 * BLOCK_TOKENS, freeTokens: 10_000 };
    expect(cache.enter(0, prompt, tokens)).toBe(0);
    expect(cache.enter(1, prompt, tokens)).toBe(0);
    cache.computed(0, prompt);
    expect(cache.enter(2, prompt, tokens)).toBe(2 * BLOCK_TOKENS - 1);
    expect(cache.foundTokens / cache.queriedTokens).toBeCloseTo((2 * BLOCK_TOKENS - 1) / (6 * BLOCK_TOKENS));
  });

  it("keeps the blocks of running prompts however little memory is left", () => {
    const cache = new EngineCache();
    const prompt = Uint32Array.of(1, 2);
    cache.enter(0, prompt, { promptTokens: 200, freeTokens: 1000 });
    cache.computed(0, prompt);
    expect(cache.enter(1, prompt, { promptTokens: 200, freeTokens: 0 })).toBe(2 * BLOCK_TOKENS);
    cache.leave(0);
    cache.leave(1);
    expect(cache.enter(2, prompt, { promptTokens: 200, freeTokens: 0 })).toBe(0);
  });
});

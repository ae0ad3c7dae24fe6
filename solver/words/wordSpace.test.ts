import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sketchOf } from "./sketch";
import { learnWordSpace, wordVector, wordWeights } from "./wordSpace";

const prompts = ["the cat sat", "the dog sat", "the cat ran", "a loop over rows", "a loop over columns", "rows and columns of a table"];
const sketches = prompts.map(sketchOf);

describe("a space of words", () => {
  it("keeps what several prompts have, and values what few of them have more", () => {
    const space = learnWordSpace(sketches);
    const [sat] = wordWeights(space, sketchOf("sat")).places;
    const [the] = wordWeights(space, sketchOf("the")).places;
    expect(space.idf[sat!]).toBeGreaterThan(space.idf[the!]!);
    expect(wordWeights(space, sketchOf("ran")).places.length).toBe(0);
  });

  it("weighs a prompt's words to a length of 1, its kinds of tokens not among them", () => {
    const space = learnWordSpace(sketches);
    fc.assert(
      fc.property(fc.array(fc.constantFrom("the", "cat", "loop", "rows", "unknown", "7"), { maxLength: 30 }), (words) => {
        const { weights } = wordWeights(space, sketchOf(words.join(" ")));
        const length = Math.hypot(...weights);
        if (weights.length === 0) expect(length).toBe(0);
        else expect(length).toBeCloseTo(1, 5);
      }),
    );
    expect(space.buckets.every((bucket) => bucket > 2)).toBe(true);
  });

  it("lays prompts of one matter near one another", () => {
    const space = learnWordSpace(sketches, { dimensions: 2, seed: 1 });
    const vectors = sketches.map((sketch) => wordVector(space, sketch));
    const cosine = (one: number, other: number): number => {
      const [a, b] = [vectors[one]!, vectors[other]!];
      return a.reduce((sum, value, at) => sum + value * b[at]!, 0) / (Math.hypot(...a) * Math.hypot(...b));
    };
    expect(cosine(0, 1)).toBeGreaterThan(0.9);
    expect(cosine(3, 4)).toBeGreaterThan(0.9);
    expect(cosine(0, 3)).toBeLessThan(0.3);
  });

  it("is nothing where there are no texts", () => {
    const space = learnWordSpace([], { dimensions: 8, seed: 1 });
    expect([space.buckets.length, space.dimensions]).toEqual([0, 0]);
    expect(wordVector(space, sketchOf("any words"))).toEqual(new Float32Array());
  });
});

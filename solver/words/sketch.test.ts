import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classCounts, SKETCH_BUCKETS, SKETCH_TOKENS, sketchOf } from "./sketch";

const total = (counts: Uint16Array) => counts.reduce((sum, count) => sum + count, 0);

describe("a sketch", () => {
  it("counts each word, number and sign, its kind, and each pair", () => {
    const sketch = sketchOf("Two apples, 12 pears!");
    expect(classCounts(sketch)).toEqual([3, 1, 2]);
    // Six tokens, their kinds, and the five pairs between them.
    expect(total(sketch.counts)).toBe(6 + 6 + 5);
  });

  it("has ascending buckets whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const { buckets, counts } = sketchOf(text);
        expect(buckets.every((bucket, at) => bucket < SKETCH_BUCKETS && (at === 0 || bucket > buckets[at - 1]!))).toBe(true);
        expect(counts.length).toBe(buckets.length);
        expect(counts.every((count) => count > 0)).toBe(true);
      }),
    );
  });

  it("is of the words, not of their case or the room between them", () => {
    expect(sketchOf("Wie  ÖFFNE ich\nDas?")).toEqual(sketchOf("wie öffne ich das ?"));
    expect(sketchOf("dog bites man")).not.toEqual(sketchOf("man bites dog"));
  });

  it("tells numbers apart by their length only", () => {
    expect(sketchOf("pay 17 of 250")).toEqual(sketchOf("pay 99 of 101"));
    expect(sketchOf("pay 17 of 250")).not.toEqual(sketchOf("pay 17 of 25"));
  });

  it("reads scripts other than Latin", () => {
    expect(classCounts(sketchOf("Сколько будет ٣٤ и 五?"))).toEqual([4, 1, 1]);
  });

  it("reads no more than it says of a long text", () => {
    const [enough, more] = [SKETCH_TOKENS, 50 * SKETCH_TOKENS].map((words) => sketchOf("word ".repeat(words)));
    expect(more).toEqual(enough);
    expect(sketchOf(`a${"b".repeat(1_000_000)}`).buckets.length).toBe(2);
  });
});

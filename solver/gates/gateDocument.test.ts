import { describe, expect, it } from "vitest";
import { gateSchema, MOST_SCORER_WORDS } from "./gateDocument";

const none = { buckets: [], idf: [], weights: [] };
const scorerOf = (prompt: object) => ({
  ...{ kind: "scorer", answer: "whole", bias: 0, weights: [{ feature: "log-answer-tokens", mean: 1, scale: 1, weight: 1 }] },
  words: { prompt, answer: none },
});
const accepts = (prompt: object): boolean => gateSchema.safeParse(scorerOf(prompt)).success;

describe("the words of a scorer's document", () => {
  it("are accepted where each has a bucket, a frequency and a weight", () => {
    expect(accepts(none)).toBe(true);
    expect(accepts({ buckets: [3, 700], idf: [1, 2], weights: [0.5, -1] })).toBe(true);
  });

  it("are refused where their lists do not belong together, do not ascend or are too many", () => {
    expect(accepts({ buckets: [3, 700], idf: [1, 2], weights: [0.5] })).toBe(false);
    expect(accepts({ buckets: [700, 3], idf: [1, 2], weights: [0.5, -1] })).toBe(false);
    expect(accepts({ buckets: [3, 2 ** 15], idf: [1, 2], weights: [0.5, -1] })).toBe(false);
    const many = Array.from({ length: MOST_SCORER_WORDS + 1 }, (_, at) => at + 1);
    expect(accepts({ buckets: many, idf: many, weights: many })).toBe(false);
  });
});

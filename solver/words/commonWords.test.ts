import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lengthPredictor, trainLengths } from "@/solver/prediction/lengths";
import { commonPart, commonWords } from "./commonWords";
import { FIRST_PAIR_BUCKET, sketchOf } from "./sketch";
import { learnWordSpace } from "./wordSpace";

const texts = Array.from({ length: 400 }, (_, at) => `solve the ${at % 2 === 0 ? "long sum" : "riddle"} for ${at < 3 ? "zebedee" : "me"}`);
const words = commonWords(learnWordSpace(texts.map(sketchOf)));
const own = (word: string): number => sketchOf(word).buckets.at(-1) ?? 0;

describe("the common part of a sketch", () => {
  it("has words that one prompt in a hundred had, not those of fewer, and no pairs", () => {
    expect(["solve", "the", "sum", "riddle"].every((word) => words.has(own(word)))).toBe(true);
    expect(words.has(own("zebedee"))).toBe(false);
    expect(Math.max(...words)).toBeLessThan(FIRST_PAIR_BUCKET);
  });

  it("is the same for any order of the words", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(["solve", "the", "riddle", "for", "zebedee", "kumquat"]), (some) => {
        const [one, other] = [some, some.toSorted()].map((list) => commonPart(sketchOf(list.join(" ")), words));
        expect(one).toEqual(other);
      }),
    );
  });

  it("is all that a predictor reads which learnt of such parts", () => {
    const facts = texts.map((text) => {
      const sketch = commonPart(sketchOf(text), words);
      return { instructionTokens: 0, promptTokens: 9, inputTokens: 9, workflow: "", stage: "", sketch };
    });
    const tokens = Float32Array.from(texts, (text) => (text.includes("long") ? 900 : 30));
    const rows = { prompts: 400, models: [{ model: "m", facts, requestTokens: tokens, remainingTokens: tokens }] };
    const { predict } = lengthPredictor(trainLengths(rows, { seed: 1 }));
    const whole = facts.map((of, at) => ({ ...of, sketch: sketchOf(`${texts[at]} zebedee kumquat`) }));
    const part = whole.map((of) => ({ ...of, sketch: commonPart(of.sketch, words) }));
    expect(predict(whole, "m")).toEqual(predict(part, "m"));
    expect(new Set(predict(whole, "m")?.map(({ requestTokens }) => Math.round(requestTokens)))).toEqual(new Set([900, 30]));
  });
});

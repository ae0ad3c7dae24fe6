import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readingAggregator } from "./readingAggregator";

const vote = (expert: string, answer: string | null) => ({ expert, vote: answer, outputTokens: 10 });
type Reading = ReturnType<typeof readingAggregator>;
const answerAfterReading = (
  own: Parameters<Reading>[0],
  read: Parameters<Reading>[1],
  accuracy: Parameters<typeof readingAggregator>[0],
): string | null => readingAggregator(accuracy)(own, read);
const alike = { own: 0.7, experts: { a: 0.7, b: 0.7, c: 0.7 } };

describe("an aggregator that reads the experts' answers", () => {
  it("follows two experts that agree against its own answer, and keeps its own where all differ", () => {
    const two = [vote("a", "x"), vote("b", "x"), vote("c", "y")];
    expect(answerAfterReading(vote("", "z"), two, alike)).toBe("a");
    const split = [vote("a", "x"), vote("b", "y"), vote("c", "w")];
    expect(answerAfterReading(vote("", "z"), split, alike)).toBeNull();
  });

  it("keeps its own answer against experts that are right no more often than wrong", () => {
    const unanimous = [vote("a", "x"), vote("b", "x"), vote("c", "x")];
    expect(answerAfterReading(vote("", "z"), unanimous, { own: 0.95, experts: { a: 0.5, b: 0.5, c: 0.5 } })).toBeNull();
  });

  it("takes the best expert's answer where it has none of its own, and none where nobody has", () => {
    const read = [vote("a", "x"), vote("b", "y")];
    expect(answerAfterReading(vote("", null), read, { own: 0.9, experts: { a: 0.6, b: 0.8 } })).toBe("b");
    expect(answerAfterReading(vote("", null), [vote("a", null)], alike)).toBeNull();
  });

  it("gives an answer that it read or had, and changes it never for one that more of those it reads support", () => {
    const answer = fc.constantFrom("x", "y", "z", null);
    fc.assert(
      fc.property(answer, fc.tuple(answer, answer, answer), fc.double({ min: 0, max: 1, noNaN: true }), (own, answers, accuracy) => {
        const read = answers.map((each, at) => vote(["a", "b", "c"][at] ?? "", each));
        const given = answerAfterReading(vote("", own), read, { ...alike, own: accuracy });
        if (given === null) return;
        const followed = read.find(({ expert }) => expert === given)?.vote;
        expect(followed).not.toBeNull();
        expect(followed).not.toBe(own);
        // One more reader of that answer never makes it be left.
        const more = [...read, vote("d", followed ?? null)];
        const again = answerAfterReading(vote("", own), more, { own: accuracy, experts: { ...alike.experts, d: 0.7 } });
        expect(more.find(({ expert }) => expert === again)?.vote).toBe(followed);
      }),
    );
  });
});

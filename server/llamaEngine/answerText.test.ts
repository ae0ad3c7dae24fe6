import fc from "fast-check";
import { expect, it } from "vitest";
import { createAnswerText } from "./answerText";

/** A tokenizer whose tokens are bytes. */
const bytes = { detokenize: (tokens: readonly number[]) => Buffer.from(tokens).toString("utf8") };

it("gives the whole text, whatever its characters, where no stop text is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const answer = createAnswerText(bytes, ["\u0000never"]);
      const given = [...Buffer.from(text)].map((byte) => answer.add(byte, true).text);
      expect(given.join("") + answer.rest()).toBe(text);
    }),
  );
});

it("ends before the first stop text, whose beginning it never gives", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 30 });
  const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(letters, stops, (text, stopTexts) => {
      const answer = createAnswerText(bytes, stopTexts);
      let given = "";
      for (const byte of Buffer.from(text)) {
        const { text: more, stop } = answer.add(byte, true);
        given += more;
        expect(stopTexts.some((one) => given.includes(one))).toBe(false);
        if (stop === null) continue;
        expect(text.startsWith(given + stop)).toBe(true);
        return;
      }
      expect(stopTexts.some((one) => text.includes(one))).toBe(false);
      expect(given + answer.rest()).toBe(text);
    }),
  );
});

it("takes no stop text while an answer may not end", () => {
  const answer = createAnswerText(bytes, ["a"]);
  expect(answer.add(97, false)).toEqual({ text: "a", stop: null });
  expect(answer.add(97, true)).toEqual({ text: "", stop: "a" });
});

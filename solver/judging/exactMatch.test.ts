import fc from "fast-check";
import { expect, test } from "vitest";
import { exactMatch } from "./exactMatch";
import { boxed, choice, type Extraction, lastLine, lastNumber } from "./extract";
import { normalised } from "./normalised";

test.each<[string, number | null]>([
  ["So she has 3 + 4 = 7 apples.", 7],
  ["It costs $1,234,567.50 in all.", 1234567.5],
  ["#### 72", 72],
  ["x = -5", -5],
  ["x = −5", -5],
  ["10-5", 5],
  ["three quarters, that is 3/4", 0.75],
  ["\\frac{3}{4}", 0.75],
  ["-\\dfrac{1}{2}.", -0.5],
  ["12{,}000", 12000],
  ["0.50", 0.5],
  [".5", 0.5],
  ["6.02e23 of them", 6.02e23],
  ["1, 2, 3", 3],
  ["50kg", 50],
  ["water is H2O", null],
  ["none", null],
  ["3/0", null],
])("the last number of %j is %j", (text, value) => {
  expect(lastNumber(text)?.value ?? null).toBe(value);
});

test.each<[string, string | null]>([
  ["B", "B"],
  ["b.", "B"],
  ["(C)", "C"],
  ["**D**", "D"],
  ["Answer: B", "B"],
  ["The correct answer is (A) because it rains.", "A"],
  ["The answer is A because B is wrong.", "A"],
  ["\\boxed{\\text{E}}", "E"],
  ["\\boxed{F}", "F"],
  ["B) Paris is the capital.", "B"],
  ["It is not A) nor B). Answer: **C**", "C"],
  ["First I look at it.\n\nD", "D"],
  ["After all of this, it must be J", "J"],
  ["My answer: I think it is G", "G"],
  ["A) is wrong and B) is right", null],
  ["I cannot tell.", null],
  ["", null],
])("%j chooses %j", (text, letter) => {
  expect(choice(text)).toBe(letter);
});

test.each<[string, string | null]>([
  ["so \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"],
  ["\\boxed{1} or \\boxed{ {2} }", " {2} "],
  ["\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"],
  ["\\boxed{1}, no, \\boxed{2", "1"],
  ["\\boxed 3", null],
])("in the last closed box of %j stands %j", (text, inside) => {
  expect(boxed(text)).toBe(inside);
});

test("a box gives back whatever balanced text was put into it", () => {
  const balanced = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4 },
      fc.stringMatching(/^[a-z0-9 +=]{0,6}$/),
      fc.tuple(tie("text"), tie("text")).map(([a, b]) => `${a}{${b}}`),
    ),
  })).text;
  fc.assert(
    fc.property(balanced, fc.stringMatching(/^[a-z {]{0,8}$/), (inside, before) => boxed(`${before}\\boxed{${inside}}`) === inside),
  );
});

test.each<[string, string, Extraction, 0 | 100]>([
  ["  Paris. ", "paris", "whole", 100],
  ["Paris, France", "Paris", "whole", 0],
  ["$x + 1$", "x+1", "whole", 100],
  ["2.50", "2.5", "whole", 100],
  ["1,000", "1000", "whole", 100],
  ["0.5", "1/2", "whole", 100],
  ["-5", "5", "whole", 0],
  ["2.50 kg", "2.5 kg", "whole", 100],
  ["2.50 kg", "2.5 g", "whole", 0],
  ["2 * 3", "2*3", "whole", 100],
  ["so **Paris** it is", "so Paris it is", "whole", 100],
  ["2*3", "23", "whole", 0],
  ["a*b", "ab", "whole", 0],
  ["`rm -rf *`", "rm -rf", "whole", 0],
  ["version 1.10", "version 1.1", "whole", 0],
  ["1.10.0", "1.1.0", "whole", 0],
  ["10000000000000001", "10000000000000000", "whole", 0],
  ["10000000000000001", "10000000000000000", "number", 0],
  ["1000000001", "1000000000", "number", 0],
  ["007", "7", "number", 100],
  ["", "Paris", "whole", 0],
  ["It took a while.\n**Final answer: Paris**", "Paris", "last-line", 100],
  ["Paris\nor Rome", "Paris", "last-line", 0],
  ["That makes 72 clips.", "She sold 48 and 24.\n#### 72", "number", 100],
  ["half of them, 50 %", "50", "number", 100],
  ["50%", "0.5", "number", 100],
  ["50", "0.5", "number", 0],
  ["no idea", "72", "number", 0],
  ["The answer is (b)", "B", "choice", 100],
  ["The answer is (A)", "B", "choice", 0],
  ["The answer is (B)", "b", "choice", 100],
  ["\\boxed{ \\dfrac{1}{2} }", "\\frac{1}{2}", "boxed", 100],
  ["\\boxed{0.5}", "\\boxed{1/2}", "boxed", 100],
  ["1/2", "\\boxed{1/2}", "boxed", 0],
])("%j against %j by %s gives %d", (answer, reference, extract, score) => {
  expect(exactMatch(answer, reference, extract)).toBe(score);
});

const extractions: readonly Extraction[] = ["whole", "last-line"];

test("a text is itself, in any case, with spaces around it and a full stop", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.constantFrom(...extractions), (text, extract) => {
      expect(exactMatch(text, text, extract)).toBe(100);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z]+( [A-Za-z]+){0,4}$/), (words) => {
      expect(exactMatch(`  ${words.toUpperCase().replaceAll(" ", "   ")}.\n`, words, "whole")).toBe(100);
    }),
  );
});

test("what was normalised of words, numbers and marks is normal", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab01, ;:!+=()"$-]{0,16}$/), (text) => {
      expect(normalised(normalised(text))).toBe(normalised(text));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["zeros", `1.${"0".repeat(200_000)}1`],
  ["blanks", " ".repeat(200_000)],
  ["blanks between letters", `x${" ".repeat(200_000)}x`],
  ["stars", "*a ".repeat(70_000)],
  ["brackets after an announcement", `answer${" (".repeat(100_000)}`],
  ["open boxes", "\\boxed{".repeat(30_000)],
  ["commas", `1${",000".repeat(50_000)}0`],
  ["points", "1.".repeat(100_000)],
  ["exponents", `1e${"1".repeat(200_000)}.`],
])("a model that loops on %s is marked in well under a second", (_, answer) => {
  for (const extract of ["whole", "last-line", "number", "choice", "boxed"] as const) {
    const startedMs = performance.now();
    exactMatch(answer, "x 1", extract);
    expect(performance.now() - startedMs).toBeLessThan(1000);
  }
});

test("a number is found after any words, however it is written", () => {
  const written = (value: number): fc.Arbitrary<string> =>
    fc.constantFrom(String(value), value.toLocaleString("en-US"), `$${value}$`, `${value}.00`, `**${value}**.`, `${2 * value}/2`);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10_000_000 }).chain((value) => fc.tuple(fc.constant(value), written(value))),
      fc.stringMatching(/^[a-z ]{0,20}$/),
      ([value, text], before) => {
        expect(exactMatch(`${before} ${text}`, String(value), "number")).toBe(100);
        expect(exactMatch(`${before} ${text}`, String(value + 1), "number")).toBe(0);
      },
    ),
  );
});

test("a last line is not changed by what stands before it", () => {
  fc.assert(
    fc.property(fc.string(), fc.stringMatching(/^[a-z]{1,9}$/), (before, line) => lastLine(`${before}\n${line}\n`) === lastLine(line)),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { type ArithmeticQuestion, arithmeticPrompts, arithmeticQuestions } from "./arithmeticQuestion";

const seeds = fc.integer({ min: -1_000_000, max: 1_000_000 });

/** The answer, worked out from the text alone. */
function workedOut(text: string): string {
  const operation = /^(\d+)([-+*])(\d+)$/.exec(text);
  if (operation !== null) {
    const [left, right] = [BigInt(operation[1]!), BigInt(operation[3]!)];
    if (operation[2] === "+") return String(left + right);
    return String(operation[2] === "-" ? left - right : left * right);
  }
  const [word, ...rest] = text.split(" ");
  if (word === "max") return rest.toSorted().at(-1)!;
  return [...rest.join("")].reduceRight((reversed, digit) => reversed + digit, "");
}

test("every question's answer is the one that its text asks for, and its numbers have the digits of its kind", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      for (const { kind, text, answer } of arithmeticQuestions(60, seed)) {
        expect(answer).toBe(workedOut(text));
        const digits = { add1: 1, add2: 2, add3: 3, sub2: 2, mul1: 1, max3: 2, rev4: 4 }[kind];
        const numbers = text.match(/\d+/g) ?? [];
        expect(numbers).toHaveLength({ max3: 3, rev4: 1 }[kind as string] ?? 2);
        for (const number of numbers) expect(number).toMatch(new RegExp(`^[1-9]\\d{${digits - 1}}$`));
      }
    }),
    { numRuns: 20 },
  );
});

test("the same seed gives the same questions, more of them begin with fewer, and another seed gives others", () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 0, max: 50 }), (seed, count) => {
      const questions = arithmeticQuestions(count, seed);
      expect(arithmeticQuestions(count + 20, seed).slice(0, count)).toEqual(questions);
      expect(arithmeticQuestions(30, seed + 1)).not.toEqual(arithmeticQuestions(30, seed));
    }),
    { numRuns: 30 },
  );
});

test("kinds come in their shares: two sums of two and three digits for each product", () => {
  const drawn = arithmeticQuestions(24_000, 5);
  const share = (kind: ArithmeticQuestion["kind"]) => (12 * drawn.filter((question) => question.kind === kind).length) / drawn.length;
  const shares = { add1: 1, add2: 3, add3: 3, sub2: 2, mul1: 1, max3: 1, rev4: 1 } as const;
  for (const [kind, twelfths] of Object.entries(shares)) expect(share(kind as keyof typeof shares)).toBeCloseTo(twelfths, 0);
});

test("a prompts file has a line for each question, under a name of its own", () => {
  const questions = arithmeticQuestions(50, 3);
  const lines = arithmeticPrompts(questions).trimEnd().split("\n");
  const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(read.map(({ reference }) => reference)).toEqual(questions.map(({ answer }) => answer));
  expect(read.map(({ messages }) => messages)).toEqual(questions.map(({ text }) => [{ role: "user", content: text }]));
  expect(new Set(read.map(({ id }) => id)).size).toBe(50);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { aggregatorMessages, aggregatorReadTokens } from "./aggregatorPrompt";

const question = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "What is 2 + 2?" },
];

test("the question stays first in its own message, the answers follow, and other messages stay as they are", () => {
  const [system, user] = aggregatorMessages(question, [{ text: "It is 4.\nAnswer: 4" }, { text: " " }, { text: "Answer: 5" }]) as {
    content: string;
  }[];
  expect(system).toBe(question[0]);
  expect(user?.content).toMatch(/^What is 2 \+ 2\?\n/);
  expect(user?.content).toMatch(/\[answer 1\]\nIt is 4\.\nAnswer: 4\n\n\[answer 2\]\nAnswer: 5$/);
});

test("an ensemble's own instruction takes the place of the usual one", () => {
  const [, user] = aggregatorMessages(question, [{ text: "4" }], "Choose one.") as { content: string }[];
  expect(user?.content).toBe("What is 2 + 2?\n\nChoose one.\n\n[answer 1]\n4");
});

test("pictures of a question stay, and a question without a user's message gets one", () => {
  const parts = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: "data:," } },
  ];
  const [user] = aggregatorMessages([{ role: "user", content: parts }], [{ text: "A cat" }]) as { content: unknown[] }[];
  expect(user?.content.slice(0, 2)).toEqual(parts);
  expect(user?.content[2]).toMatchObject({ type: "text", text: expect.stringContaining("A cat") });
  const [, added] = aggregatorMessages([{ role: "system", content: "Tell a joke." }], [{ text: "Knock, knock" }]) as {
    role: string;
    content: string;
  }[];
  expect(added).toMatchObject({ role: "user", content: expect.stringMatching(/^system: Tell a joke\.(?:.|\n)*Knock, knock$/) });
});

test("however long answers are, and however many, the prompt stays within bounds and shows where each one starts and ends", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 60_000 }), { minLength: 1, maxLength: 16 }), (lengths) => {
      const answers = lengths.map((length, at) => ({ text: `start${at} ${"x".repeat(length)} end${at}` }));
      const [, user] = aggregatorMessages(question, answers) as { content: string }[];
      expect(user?.content.length).toBeLessThan(48_000 + 2000);
      for (const at of lengths.keys()) for (const edge of [`start${at} `, ` end${at}`]) expect(user?.content).toContain(edge);
    }),
    { numRuns: 20 },
  );
});

test("tokens that an aggregator reads are those of the prompt that it is sent, at four characters a token", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 1, max: 20_000 }),
      fc.option(fc.constant("Choose one.")),
      (answers, characters, own) => {
        const instruction = own ?? undefined;
        const texts = Array.from({ length: answers }, () => ({ text: "x".repeat(characters) }));
        const [, user] = aggregatorMessages(question, texts, instruction) as { content: string }[];
        const added = (user?.content.length ?? 0) - "What is 2 + 2?".length;
        const tokens = aggregatorReadTokens((answers * characters) / 4, answers, instruction);
        expect(Math.abs(tokens - added / 4)).toBeLessThanOrEqual(5 + 2 * answers);
      },
    ),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { conversationText } from "@/solver/judging/conversation";
import { judgePrompt, rubricPrompt } from "@/solver/judging/judgePrompt";
import { judgedTexts } from "./judgedTexts";

const text = fc.string({ unit: fc.constantFrom(..."0123456789+-* max\nrev"), maxLength: 20 });

test("question and answer are read back from the rubric with and without a reference", () => {
  fc.assert(
    fc.property(text, text, text, (question, answer, reference) => {
      const prompt = conversationText([{ role: "user", content: question }]);
      const wanted = { conversation: [question], answer };
      expect(judgedTexts(judgePrompt(prompt, answer))).toEqual(wanted);
      expect(judgedTexts(rubricPrompt("reference", { prompt, answer, reference }))).toEqual(wanted);
    }),
  );
});

test("a conversation of several messages is read as its messages, a text without roles as one", () => {
  const messages = [
    { role: "system", content: "Answer." },
    { role: "user", content: "1+1" },
    { role: "assistant", content: "2" },
    { role: "user", content: "max 10 20 30" },
  ];
  const conversation = messages.map(({ content }) => content);
  expect(judgedTexts(judgePrompt(conversationText(messages), "30"))).toEqual({ conversation, answer: "30" });
  expect(judgedTexts(judgePrompt("1+1", "2"))).toEqual({ conversation: ["1+1"], answer: "2" });
});

test("the rubric of a comparison and a text without marks have no answer to judge", () => {
  expect(judgedTexts(rubricPrompt("pairwise", { prompt: "1+1", answer: "2", other: "3" }))).toBeNull();
  expect(judgedTexts("Say one word.")).toBeNull();
  expect(judgedTexts("")).toBeNull();
});

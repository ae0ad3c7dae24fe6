import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Prompt } from "@/server/contracts/studio";
import { arithmeticPrompts, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { readPrompts } from "./readPrompts";

const folder = mkdtempSync(join(tmpdir(), "weir-questions-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("questions written as a prompts file are read with their categories, right answers and limits, and none is skipped", async () => {
  const questions = arithmeticQuestions(200, 8);
  const path = join(folder, "questions.jsonl");
  writeFileSync(path, arithmeticPrompts(questions));
  const prompts: Prompt[] = [];
  const skipped: number[] = [];
  const read = await readPrompts(
    { path, name: "questions" },
    {
      prompt(prompt) {
        prompts.push(prompt);
        return null;
      },
      skipped: (line) => void skipped.push(line),
    },
  );
  expect(read).toMatchObject({ ok: true, form: "chat" });
  expect(skipped).toEqual([]);
  expect(prompts.map(({ category, reference }) => [category, reference])).toEqual(questions.map(({ kind, answer }) => [kind, answer]));
  expect(prompts[0]?.body).toEqual({ messages: [{ role: "user", content: questions[0]!.text }], temperature: 0, max_tokens: 16 });
});

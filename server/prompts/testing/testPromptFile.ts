import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BadLine, Prompt } from "@/server/contracts/studio";
import { type PromptFile, readPrompts } from "../readPrompts";

/** Files of prompts for tests, in a folder that goes with `remove`. */
export function testPromptFiles() {
  const folder = mkdtempSync(join(tmpdir(), "weir-prompts-"));
  let files = 0;
  return {
    folder,
    file(content: string | Buffer, name = "mine.jsonl"): PromptFile {
      const path = join(folder, String(files++));
      writeFileSync(path, content);
      return { path, name };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** All of a file's prompts and skipped lines. */
export async function readAll(file: PromptFile): Promise<{ message: string } | { form: string; prompts: Prompt[]; skipped: BadLine[] }> {
  const prompts: Prompt[] = [];
  const skipped: BadLine[] = [];
  const read = await readPrompts(file, {
    prompt(prompt) {
      prompts.push(prompt);
      return null;
    },
    skipped: (line, problem) => skipped.push({ line, problem }),
  });
  return read.ok ? { form: read.form, prompts, skipped } : { message: read.message };
}

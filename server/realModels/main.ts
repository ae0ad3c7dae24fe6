import { writeFile } from "node:fs/promises";
import { reasonOf } from "@/server/lib/reasonOf";
import { arithmeticPrompts, arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import type { ModelFormat } from "./preparedFiles";
import { prepareRealModels } from "./prepareRealModels";

const USAGE = [
  "Usage:",
  "  realModels prepare FOLDER [gguf] [hugging-face]   writes both models; without a format, in both formats",
  "  realModels questions COUNT SEED FILE              writes questions with right answers as a prompts file",
].join("\n");

const FORMATS: readonly ModelFormat[] = ["gguf", "hugging-face"];
const MOST_QUESTIONS = 1_000_000;

/** The result as a line of text, or null where the arguments are none. */
async function run([command, ...rest]: readonly string[]): Promise<string | null> {
  if (command === "prepare") {
    const [folder, ...named] = rest;
    const formats = named.length === 0 ? FORMATS : FORMATS.filter((format) => named.includes(format));
    if (folder === undefined || named.some((name) => !FORMATS.some((format) => format === name))) return null;
    const prepared = await prepareRealModels(folder, formats);
    if (!prepared.ok) throw new Error(prepared.message);
    return JSON.stringify(prepared.models, null, 2);
  }
  if (command === "questions") {
    const [count, seed, file] = [Number(rest[0]), Number(rest[1]), rest[2]];
    const isCount = Number.isInteger(count) && count >= 1 && count <= MOST_QUESTIONS;
    if (!isCount || !Number.isInteger(seed) || file === undefined) return null;
    await writeFile(file, arithmeticPrompts(arithmeticQuestions(count, seed)));
    return `${count} questions in ${file}`;
  }
  return null;
}

try {
  const output = await run(process.argv.slice(2));
  process.stdout.write(`${output ?? USAGE}\n`);
  if (output === null) process.exitCode = 2;
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}

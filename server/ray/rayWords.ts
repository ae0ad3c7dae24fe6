import { createMask } from "@/server/lib/secrets";

const mostCharacters = 300;

/** Colours of a terminal. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** pydantic repeats its input, which includes environments. */
const given = /\s*\[type=.*$/;

const hide = createMask([]);

/**
 * The error in one sentence without its stack: the last line of a Python traceback, or pydantic's objection to a document, without the
 * document.
 */
export function lastWords(message: string): string {
  const lines = message
    .replace(colours, "")
    .split(/\r?\n/)
    .map((line) => line.replace(given, ""))
    .filter((line) => line.trim() !== "" && !line.includes("For further information visit"));
  const validation = lines.findIndex((line) => /^\d+ validation errors? for /.test(line));
  const words = validation >= 0 ? lines.slice(validation + 1, validation + 3).map((line) => line.trim()) : [lastOf(lines)];
  const told = hide(words.join(": ")).slice(0, mostCharacters).trim();
  return told === "" ? "it does not say why." : told.replace(/\.?$/, ".");
}

/** Frames of a stack and their source are indented; the exception is not. */
const lastOf = (lines: readonly string[]): string => lines.findLast((line) => !/^\s/.test(line)) ?? lines.at(-1) ?? "";

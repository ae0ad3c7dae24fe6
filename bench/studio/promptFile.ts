import { once } from "node:events";
import { createWriteStream } from "node:fs";

const words =
  "what how when model plan cluster route token answer please write a function that returns the sum of two lists in order".split(" ");
const LINES_A_WRITE = 2000;

/**
 * Writes chat lines of some 200 bytes each: ten categories, a day and half of it again, one in a thousand broken, as a log is that was cut
 * while it was written.
 */
export async function writePromptFile(path: string, lines: number): Promise<void> {
  const file = createWriteStream(path);
  for (let from = 0; from < lines; from += LINES_A_WRITE) {
    let text = "";
    for (let at = from; at < Math.min(lines, from + LINES_A_WRITE); at += 1) text += `${line(at)}\n`;
    if (!file.write(text)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

function line(at: number): string {
  const content = Array.from({ length: 12 + (at % 17) }, (_, word) => words[(at * 7 + word * 11) % words.length]).join(" ");
  const head = `{"id":"p${at}","category":"c${at % 10}","timestamp":${1_767_225_600 + (at % 130_000)}`;
  const whole = `${head},"messages":[{"role":"user","content":"${content}"}]}`;
  return at % 1000 === 999 ? whole.slice(0, -5) : whole;
}

import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Benchmark } from "../lib/benchmark";
import { endChild, said, startBundle } from "../lib/childProcess";
import type { Sampling } from "./samplePrompts";

const MB = 1e6;
const ROWS = 1_000_000;
const SAMPLE = 20_000;

export const promptBenchmarks: readonly Benchmark[] = [
  {
    name: "prompts surveyed and sampled",
    budget: null,
    async run() {
      const { sampling, bytes } = await sampleMany(ROWS, SAMPLE);
      const { surveySeconds, sampleSeconds, peakBytes, longestHoldMs, busyShare } = sampling;
      const passes = `survey ${surveySeconds.toFixed(1)} s in one pass, sample of ${SAMPLE} ${sampleSeconds.toFixed(1)} s in two`;
      const held = `main thread busy ${(100 * busyShare).toFixed(1)} %, held ${longestHoldMs.toFixed(0)} ms at the longest`;
      return {
        figure: (3 * ROWS) / (surveySeconds + sampleSeconds),
        unit: "rows/s of a pass",
        detail: `${ROWS} chat lines, ${Math.round(bytes / MB)} MB; ${passes}; ${Math.round(peakBytes / MB)} MB of memory at most; ${held}`,
      };
    },
  },
];

/** Writes so many prompts to a file, and samples it in a separate process. */
export async function sampleMany(rows: number, size: number): Promise<{ readonly sampling: Sampling; readonly bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-bench-prompts-"));
  const path = join(folder, "many.jsonl");
  try {
    await writePromptFile(path, rows);
    const child = startBundle("samplePrompts", { args: [path, String(size)] });
    try {
      const [line = ""] = await said(child, /^SAMPLED (.*)$/m);
      return { sampling: JSON.parse(line) as Sampling, bytes: statSync(path).size };
    } finally {
      await endChild(child);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const words =
  "what how when model plan cluster route token answer please write a function that returns the sum of two lists in order".split(" ");
const LINES_A_WRITE = 2000;

/**
 * Writes chat lines of some 200 bytes each: ten categories, a day and a half, one in a thousand broken, like a log that was cut
 * while it was written.
 */
async function writePromptFile(path: string, lines: number): Promise<void> {
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

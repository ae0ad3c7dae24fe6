import { createReadStream } from "node:fs";
import { textLines } from "@/server/lib/textLines";
import type { RunLine } from "@/solver/prediction/executedRows";

/** Lines of an uploaded file of executed runs, empty ones left out. Throws whatever reading it throws. */
export async function* runLines(path: string): AsyncGenerator<RunLine> {
  for await (const lines of textLines(createReadStream(path)))
    for (const one of lines) yield { line: one.line, text: "text" in one ? one.text : null };
}

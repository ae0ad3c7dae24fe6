import { createHash } from "node:crypto";
import { readCsv } from "@/server/planning/imports/readCsv";
import { refuse } from "./exitCodes";
import { openFile } from "./workloadFlags";

interface PromptTexts {
  readonly texts: readonly (string | null)[];
  /** SHA-256 of the texts. */
  readonly id: string;
}

/**
 * Texts of a workload's prompts from a CSV with columns prompt_id and prompt, by row of its outcome table; null if the file has none.
 *
 * @param flag that names the file, for refusals.
 * @throws Refusal with file and line if it cannot be read, or if it has no text of any prompt.
 */
export async function readPromptTexts(path: string, promptIds: readonly string[], flag: string = "--prompts"): Promise<PromptTexts> {
  const texts = new Map<string, string>();
  let [idAt, textAt] = [-1, -1];
  const read = await openFile(path, (source) =>
    readCsv(source, {
      header(names) {
        [idAt, textAt] = [names.indexOf("prompt_id"), names.indexOf("prompt")];
        const missing = idAt < 0 ? "prompt_id" : textAt < 0 ? "prompt" : null;
        return missing === null ? null : `there is no column ${missing}; give prompt_id and prompt`;
      },
      row(cells) {
        texts.set(cells[idAt] ?? "", cells[textAt] ?? "");
        return null;
      },
    }),
  );
  if (!read.ok) refuse(`${flag}: ${read.message}`);
  const found = promptIds.map((id) => texts.get(id) ?? null);
  if (found.some((text) => text !== null)) return { texts: found, id: createHash("sha256").update(JSON.stringify(found)).digest("hex") };
  return refuse(`${flag}: ${path} has none of the workload's prompts; they are named as ${promptIds[0]} is.`);
}

import { join } from "node:path";
import { z } from "zod";
import { SavedFile } from "../lib/savedFile";
import type { Callers } from "./callers";

/** Unix milliseconds of the last use, by the SHA-256 of a key. */
const usesSchema = z.record(z.string(), z.number());

/** The file of the state directory with the last use of each API key. Loaded after the configuration. */
export function keyUseFile(
  stateDirectory: string,
  { callers, onProblem }: { readonly callers: Callers; readonly onProblem: (problem: unknown) => void },
): SavedFile {
  return new SavedFile(join(stateDirectory, "key-uses.json"), {
    everyMs: 60_000,
    text: () => JSON.stringify(Object.fromEntries(callers.uses)),
    restore: (text) => callers.restoreUses(Object.entries(usesSchema.parse(JSON.parse(text)))),
    onProblem,
  });
}

import { readFileSync } from "node:fs";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { readProfileText } from "@/solver/hardware/readProfileText";

export const PROFILE_FLAG = [
  "--profile <file>",
  "engine profile written by `weir calibrate --out` (default: the built-in profile of the engine)",
] as const;

type Read = { readonly ok: true; readonly profile: EngineProfile | null } | { readonly ok: false; readonly message: string };

/** The profile of a file; null where none is named. One sentence with file and field where it cannot be used. */
export function readProfile(path: string | undefined): Read {
  if (path === undefined) return { ok: true, profile: null };
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (problem) {
    return { ok: false, message: `--profile: ${path} cannot be read: ${problem instanceof Error ? problem.message : problem}.` };
  }
  const read = readProfileText(text, path);
  return read.ok ? read : { ok: false, message: `--profile: ${read.message}` };
}

import { readFileSync } from "node:fs";
import { reasonOf } from "@/server/lib/reasonOf";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { readProfileText } from "@/solver/hardware/readProfileText";
import { refuse } from "./exitCodes";

export const PROFILE_FLAG = [
  "--profile <file>",
  "engine profile written by `weir calibrate --out` (default: the built-in profile of the engine)",
] as const;

/**
 * The profile of a file; null if none is named.
 * @throws Refusal with file and field if it is invalid.
 */
export function readProfile(path: string | undefined): EngineProfile | null {
  if (path === undefined) return null;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (problem) {
    return refuse(`--profile: ${path} cannot be read: ${reasonOf(problem)}.`);
  }
  const read = readProfileText(text, path);
  return read.ok ? read.profile : refuse(`--profile: ${read.message}`);
}

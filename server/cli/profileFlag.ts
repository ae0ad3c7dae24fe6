import { readFileSync } from "node:fs";
import { type EngineProfile, engineProfileSchema } from "@/solver/hardware/engineProfile";

export const PROFILE_FLAG = [
  "--profile <file>",
  "engine profile written by `weir calibrate --out` (default: the built-in profile of the engine)",
] as const;

type Read = { readonly ok: true; readonly profile: EngineProfile | null } | { readonly ok: false; readonly message: string };

/** The profile of a file; null where none is named. One sentence with file and field where it cannot be used. */
export function readProfile(path: string | undefined): Read {
  if (path === undefined) return { ok: true, profile: null };
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (problem) {
    return { ok: false, message: `--profile: ${path} cannot be read as JSON: ${problem instanceof Error ? problem.message : problem}.` };
  }
  const parsed = engineProfileSchema.safeParse(json);
  if (parsed.success) return { ok: true, profile: parsed.data };
  const issue = parsed.error.issues[0];
  return { ok: false, message: `--profile: ${path}: ${issue?.path.join(".") || "the whole file"}: ${issue?.message}.` };
}

import { type EngineProfile, kernelProfileSchema } from "./engineProfile";
import { measuredProfileSchema } from "./measuredProfile";

type Read = { readonly ok: true; readonly profile: EngineProfile } | { readonly ok: false; readonly message: string };

/**
 * The engine profile of a file's text, as `weir calibrate --out` or `weir measure --out` writes it.
 *
 * @param file the file's name in the message.
 * @returns the profile, or one sentence with the file, the field and what is wrong with it.
 */
export function readProfileText(text: string, file: string): Read {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (problem) {
    return { ok: false, message: `${file} is not JSON: ${problem instanceof Error ? problem.message : problem}.` };
  }
  const isMeasuredForm = typeof json === "object" && json !== null && "form" in json;
  const parsed = (isMeasuredForm ? measuredProfileSchema : kernelProfileSchema).safeParse(json);
  if (parsed.success) return { ok: true, profile: parsed.data };
  if (typeof json === "object" && json !== null && "fits" in json)
    return { ok: false, message: `${file} is the report of weir calibrate --json: give the file that --out wrote.` };
  if (typeof json !== "object" || json === null || !("coefficients" in json || "form" in json))
    return {
      ok: false,
      message: `${file} is not an engine profile: it has no coefficients. Give the file that weir calibrate --out or weir measure --out wrote.`,
    };
  const issue = parsed.error.issues[0];
  return { ok: false, message: `${file}: ${issue?.path.join(".") || "the whole file"}: ${issue?.message}.` };
}

/** The text of a profile's file; `readProfileText` restores the same profile. */
export const profileText = (profile: EngineProfile): string => `${JSON.stringify(profile, null, 2)}\n`;

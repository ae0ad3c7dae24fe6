import type { Precision } from "@/solver/hardware/modelCard";

/** Quantisation at the end of a file's name, as `-Q4_K_M`. */
const format = /[-._](i?q\d\w*|bf16|f16|f32|mxfp4\w*)$/i;

/**
 * Precision of weights by GGUF's name of their format, as `Q4_K - Medium` or `all F16`.
 *
 * @returns null if no precision of the cards is near: F32 and formats of 2, 3, 5 and 6 bits.
 */
export function ggufPrecision(name: string): Precision | null {
  if (/(^|[^a-z])i?q4|mxfp4/i.test(name)) return "int4";
  if (/(^|[^a-z])q8/i.test(name)) return "fp8";
  return /(^|[^a-z])b?f16/i.test(name) ? "bf16" : null;
}

/**
 * Other spellings of a model's name, as cards and repositories write it.
 *
 * @param name a GGUF file, with or without its folder, or a name in Ollama's form.
 * @example spellings("llama3.1:8b") // includes "llama-3.1-8b"
 */
export function spellings(name: string): readonly string[] {
  const file = name.split(/[\\/]/).at(-1) ?? name;
  const bare = file.replace(/\.gguf$/i, "").replace(format, "");
  const [family = "", tag] = bare.split(":");
  const whole = tag === undefined || tag === "latest" ? family : `${family}-${tag.replace(format, "")}`;
  const spaced = whole.replace(/^([a-z]+)(\d)/i, "$1-$2");
  return [...new Set([bare, whole, spaced])].filter((one) => one !== name && one !== "");
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { loadEncoder } from "@/server/encoders/encoder";
import { isEncoderPackageInstalled } from "@/server/encoders/encoderFiles";
import { workerFile } from "@/server/threads/workerFile";
import type { Embeddings } from "@/solver/prediction/confidence";

/** An encoder that `scripts/installEncoder.mjs` installs. */
interface EncoderAddOn {
  readonly folder: string;
  readonly name: string;
  /** What its training put before texts like these. */
  readonly prefix: string;
}

export const miniLm: EncoderAddOn = { folder: "minilm-l6-int8", name: "all-MiniLM-L6-v2", prefix: "" };
export const e5Small: EncoderAddOn = { folder: "e5-small-v2-int8", name: "e5-small-v2", prefix: "query: " };

const asked = new Set<string>();

/** The encoder's folder; null where it is not installed, which is reported once. */
export function encoderFolder({ folder: name } = miniLm): string | null {
  const folder = join(addonsFolder(process.env), name);
  if (existsSync(folder) && isEncoderPackageInstalled()) return folder;
  if (!asked.has(name)) process.stderr.write(`Skipped: heads on an encoder need ${folder}: node scripts/installEncoder.mjs ${name}\n`);
  asked.add(name);
  return null;
}

/** Vectors by encoder and text: several tables have the same prompts. */
const known = new Map<string, Float32Array>();

/** Time that encoders took, and for how many texts. */
export const embedding = { ms: 0, texts: 0 };

/** Embeddings of all prompts of a table, by row, through the ONNX encoder's own process; null where it is not installed. */
export async function embeddingsOf(words: readonly string[], addOn = miniLm): Promise<Embeddings | null> {
  const folder = encoderFolder(addOn);
  if (folder === null) return null;
  const encoder = await loadEncoder(folder, workerFile("encoderProcess"));
  const texts = words.map((text) => `${addOn.prefix}${text}`);
  const keyOf = (text: string): string => `${addOn.folder} ${text}`;
  try {
    const unknown = [...new Set(texts)].filter((text) => !known.has(keyOf(text)));
    const before = performance.now();
    const made = await encoder.embed(unknown);
    embedding.ms += performance.now() - before;
    embedding.texts += unknown.length;
    for (const [at, text] of unknown.entries()) known.set(keyOf(text), made.values.slice(at * made.dimensions, (at + 1) * made.dimensions));
    const vectors = texts.map((text) => known.get(keyOf(text)) ?? new Float32Array());
    const dimensions = vectors[0]?.length ?? 0;
    const values = new Float32Array(words.length * dimensions);
    for (const [row, vector] of vectors.entries()) values.set(vector, row * dimensions);
    return { encoder: { name: encoder.name, sha256: encoder.sha256 }, dimensions, values };
  } finally {
    encoder.close();
  }
}

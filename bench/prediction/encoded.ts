import { existsSync } from "node:fs";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { isEncoderPackageInstalled } from "@/server/encoders/encoderFiles";
import { embedPrompts } from "@/server/prediction/embedPrompts";
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

/** Embeddings of all prompts of a table, by row, through the ONNX encoder's own process; null where it is not installed. */
export async function embeddingsOf(words: readonly string[]): Promise<Embeddings | null> {
  const folder = encoderFolder();
  if (folder === null) return null;
  const rows = Int32Array.from(words, (_, row) => row);
  const [all] = await embedPrompts(folder, words, [rows], () => undefined);
  return all ?? null;
}

/** The embeddings of some rows. */
export function embeddingsAt({ encoder, dimensions, values }: Embeddings, rows: Int32Array): Embeddings {
  const own = new Float32Array(rows.length * dimensions);
  for (const [at, row] of rows.entries()) own.set(values.subarray(row * dimensions, (row + 1) * dimensions), at * dimensions);
  return { encoder, dimensions, values: own };
}

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, isAbsolute, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { EncoderIdentity } from "@/solver/prediction/confidence";

/** The optional package that runs encoders. */
export const encoderPackage = "@huggingface/transformers";

/** What an encoder's folder holds, as models for Transformers.js are laid out. */
const files = ["config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"] as const;

/** Whether the package that runs encoders is there; that its libraries work with this machine only loading one shows. */
export function isEncoderPackageInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(encoderPackage);
    return true;
  } catch {
    return false;
  }
}

/** Why a folder of this machine holds no encoder, in one sentence; null where its files are there. */
export function encoderFolderRefusal(folder: string): string | null {
  if (!isAbsolute(folder)) return `"${folder}" is no whole path: name the encoder's folder from the root on.`;
  const missing = files.filter((file) => !existsSync(join(folder, file)));
  return missing.length === 0 ? null : `${folder} lacks ${missing.join(" and ")}: an encoder's folder holds ${files.join(", ")}.`;
}

/**
 * An encoder by its folder's last name and the SHA-256 of what `sha256sum config.json tokenizer.json tokenizer_config.json onnx/model.onnx*`
 * prints in it: all that its embeddings depend on. Reads every byte.
 *
 * @throws Error where a file cannot be read.
 */
export async function identifyEncoder(folder: string): Promise<EncoderIdentity> {
  // Weights beyond 2 GB are stored next to the network, as model.onnx_data.
  const networks = readdirSync(join(folder, "onnx")).filter((file) => file.startsWith("model.onnx"));
  const read = [...files.slice(0, -1), ...networks.sort().map((file) => `onnx/${file}`)];
  const whole = createHash("sha256");
  for (const file of read) whole.update(`${await sha256Of(join(folder, file))}  ${file}\n`);
  return { name: basename(resolve(folder)), sha256: whole.digest("hex") };
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { type ModelFormat, preparedFiles, preparedNames } from "./preparedFiles";
import { type RealModel, realModels } from "./realModel";

/** Where a prepared model is; null: not asked for in that format. All paths are absolute. */
export interface PreparedModel {
  readonly name: RealModel["name"];
  readonly gguf: string | null;
  /** The same model at trained depth: the same probabilities for less work. */
  readonly trainedGguf: string | null;
  readonly huggingFace: string | null;
}

/** Raised when the files that are made of the same weights change. */
const FORMAT_VERSION = 1;

/** What a folder holds of one model in one format: of which weights it was made, and the check sum of each file. */
const recordSchema = z.object({ source: z.string(), files: z.record(z.string(), z.string()) });

/**
 * Prepares both models in a folder: reads the weights under `models/`, deepens them and writes the formats. What is there already, whole
 * and of the same weights, is left as it is. Each file is replaced at once; an engine that has an older one open keeps it.
 *
 * @param folder is made where it is missing.
 * @param weightsFolder by default `models/` under WEIR_ROOT or the working directory.
 * @returns where the models are, or one sentence: weights that are missing or damaged, a folder that cannot be written.
 */
export async function prepareRealModels(
  folder: string,
  formats: readonly ModelFormat[],
  weightsFolder: string = join(process.env.WEIR_ROOT ?? process.cwd(), "models"),
): Promise<Outcome<{ readonly models: readonly PreparedModel[] }>> {
  const target = resolve(folder);
  for (const model of realModels) {
    const read = await readWeights(join(weightsFolder, model.name));
    if (!read.ok) return read;
    try {
      for (const format of formats) await prepare(target, model, format, read.weights);
    } catch (error) {
      const fault = error instanceof RangeError || error instanceof SyntaxError;
      const subject = fault
        ? `The weights of ${model.name} under ${weightsFolder} are damaged`
        : `The models cannot be written to ${target}`;
      return { ok: false, message: `${subject}: ${reasonOf(error)}.` };
    }
  }
  const at = (format: ModelFormat, name: string): string | null => (formats.includes(format) ? join(target, name) : null);
  const models = realModels.map(({ name }): PreparedModel => {
    const { gguf, trainedGguf, huggingFace } = preparedNames(name);
    return { name, gguf: at("gguf", gguf), trainedGguf: at("gguf", trainedGguf), huggingFace: at("hugging-face", huggingFace) };
  });
  return { ok: true, models };
}

interface Weights {
  readonly configJson: string;
  readonly weights: Uint8Array;
}

async function readWeights(folder: string): Promise<Outcome<{ readonly weights: Weights }>> {
  try {
    const [configJson, weights] = await Promise.all([
      readFile(join(folder, "config.json"), "utf8"),
      readFile(join(folder, "model.safetensors")),
    ]);
    return { ok: true, weights: { configJson, weights } };
  } catch (error) {
    return { ok: false, message: `The weights in ${folder} cannot be read: ${reasonOf(error)}. Set WEIR_ROOT to the folder of Weir.` };
  }
}

async function prepare(folder: string, model: RealModel, format: ModelFormat, weights: Weights): Promise<void> {
  const record = join(folder, `${model.name}.${format}.json`);
  const source = hashOf(JSON.stringify([FORMAT_VERSION, model]), weights.configJson, weights.weights);
  if (await isWhole(folder, record, source)) return;
  const files = preparedFiles(model, format, weights);
  const sums = Object.fromEntries(Array.from(files, ([path, content]) => [path, hashOf(content)]));
  for (const [path, content] of files) await replaceFile(join(folder, path), content);
  // Last: what a killed preparation left has no record, and is made again.
  await replaceFile(record, `${JSON.stringify({ source, files: sums }, null, 2)}\n`);
}

async function isWhole(folder: string, record: string, source: string): Promise<boolean> {
  try {
    const read = recordSchema.parse(JSON.parse(await readFile(record, "utf8")));
    if (read.source !== source) return false;
    for (const [path, sum] of Object.entries(read.files)) {
      if (hashOf(await readFile(join(folder, path))) !== sum) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Two studios may prepare the same folder: each writes its own file, and the bytes are the same.
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

import { readDecoder } from "./decoder";
import { deepened } from "./deepen";
import { huggingFaceFiles } from "./huggingFaceFiles";
import { llamaGguf } from "./llamaGguf";
import type { RealModel } from "./realModel";

/** `gguf` is llama.cpp's format, `hugging-face` the folder that vLLM serves. */
export type ModelFormat = "gguf" | "hugging-face";

/** Names of what is prepared of a model, relative to the folder of all models. */
export const preparedNames = (name: RealModel["name"]) => ({
  gguf: `${name}.gguf`,
  trainedGguf: `${name}-trained.gguf`,
  huggingFace: name,
});

/**
 * The files of a model in one format: path in the folder of all models -> content.
 *
 * @param configJson, weights the two files of the model in `models/`.
 * @throws RangeError, SyntaxError where those are damaged.
 */
export function preparedFiles(
  { name, extraLayers }: RealModel,
  format: ModelFormat,
  { configJson, weights }: { readonly configJson: string; readonly weights: Uint8Array },
): ReadonlyMap<string, Uint8Array> {
  const trained = readDecoder(configJson, weights);
  const deep = deepened(trained, extraLayers);
  const names = preparedNames(name);
  if (format === "gguf") {
    return new Map([
      [names.gguf, llamaGguf(name, deep)],
      [names.trainedGguf, llamaGguf(`${name}-trained`, trained)],
    ]);
  }
  return new Map(Array.from(huggingFaceFiles(deep), ([file, content]) => [`${names.huggingFace}/${file}`, content]));
}

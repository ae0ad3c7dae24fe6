import { parameterCount } from "./architecture";
import { deepSeekModels } from "./families/deepSeek";
import type { ModelFigures } from "./families/figures";
import { gemmaModels } from "./families/gemma";
import { llamaModels } from "./families/llama";
import { mistralModels } from "./families/mistral";
import { otherModels } from "./families/others";
import { qwenModels } from "./families/qwen";
import type { ModelCard } from "./modelCard";

const FIGURES: readonly ModelFigures[] = [
  ...llamaModels,
  ...gemmaModels,
  ...qwenModels,
  ...mistralModels,
  ...deepSeekModels,
  ...otherModels,
];

/** Every model Weir ships with, by id. Keys and values are kept in bf16, the engines' default, also under fp8 weights. */
export const modelCards: Readonly<Record<string, ModelCard>> = Object.fromEntries(
  FIGURES.map((figures) => [
    figures.id,
    {
      precision: "bf16",
      quantized: "linear-layers",
      ...figures,
      kvBytesPerValue: 2,
      paramsB: parameterCount(figures.architecture) / 1e9,
    },
  ]),
);

/** The shipped card of a model id such as `llama-3.1-8b`; undefined when there is none. */
export function modelCard(id: string): ModelCard | undefined {
  return Object.hasOwn(modelCards, id) ? modelCards[id] : undefined;
}

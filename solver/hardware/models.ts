import { parameterCount } from "./architecture";
import type { ModelCard } from "./modelCard";
import { modelFigures } from "./modelFigures";

/** Keys and values are kept in bf16, the engines' default, also under fp8 weights. */
const KV_BYTES_PER_VALUE = 2;

/** Every model Weir knows, by id. */
export const modelCards: Readonly<Record<string, ModelCard>> = Object.fromEntries(
  modelFigures.map((figures) => [
    figures.id,
    { ...figures, kvBytesPerValue: KV_BYTES_PER_VALUE, paramsB: parameterCount(figures.architecture) / 1e9 },
  ]),
);

/** The card of a model id such as `llama-3.1-8b`; undefined when there is none. */
export function modelCard(id: string): ModelCard | undefined {
  return Object.hasOwn(modelCards, id) ? modelCards[id] : undefined;
}

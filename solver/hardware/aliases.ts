import { cardOf } from "./catalogue";
import type { ModelCard } from "./modelCard";
import { modelCards } from "./models";

/** Names that outcome tables give to models, and the card each one means. */
export const modelAliases: Readonly<Record<string, string>> = {
  "Meta-Llama-3-8B-Instruct": "llama-3-8b",
  "Meta-Llama-3-70B-Instruct": "llama-3-70b",
  "Meta-Llama-3.1-8B-Instruct": "llama-3.1-8b",
  "Meta-Llama-3.1-70B-Instruct": "llama-3.1-70b",
  "Llama-3.1-405B-Inst@sambanova": "llama-3.1-405b-fp8",
  "Llama-3.1-405B-Inst@together": "llama-3.1-405b-fp8",
  "Llama-3.1-405B-Instruct-FP8": "llama-3.1-405b-fp8",
  "gemma-2b-it": "gemma-2b",
  "gemma-7b-it": "gemma-7b",
  "gemma-2-2b-it": "gemma-2-2b",
  "gemma-2-9b-it": "gemma-2-9b",
  "gemma-2-27b-it": "gemma-2-27b",
  "Qwen2-7B-Instruct": "qwen2-7b",
  "Qwen2-72B-Instruct": "qwen2-72b",
  "Qwen2.5-3B-Instruct": "qwen2.5-3b",
  "Qwen2.5-7B-Instruct": "qwen2.5-7b",
  "Qwen2.5-32B-Instruct": "qwen2.5-32b",
  "Qwen2.5-72B-Instruct": "qwen2.5-72b",
  "Yi-1.5-9B-Chat": "yi-1.5-9b",
  "Yi-1.5-34B-Chat": "yi-1.5-34b",
  "reka-edge": "reka-edge",
  "reka-flash-20240226": "reka-flash",
  "reka-core-20240501": "reka-core",
};

/**
 * Card id of a model's name in an outcome table.
 *
 * @param extra the user's own names, which win over the table above; values are card ids.
 * @param models the cards there are, by id; the shipped ones unless given.
 * @returns undefined when neither a name map nor the cards themselves know the name, or when `extra` points to no card.
 * @example resolveModel("gemma-2-2b-it") // "gemma-2-2b"
 */
export function resolveModel(
  tableName: string,
  extra: Readonly<Record<string, string>> = {},
  models: Readonly<Record<string, ModelCard>> = modelCards,
): string | undefined {
  const named = cardOf(extra, tableName) ?? cardOf(modelAliases, tableName) ?? tableName;
  return cardOf(models, named)?.id;
}

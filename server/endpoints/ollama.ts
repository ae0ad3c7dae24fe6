import { z } from "zod";
import type { Finding } from "@/server/contracts/studio";
import type { Precision } from "@/solver/hardware/modelCard";
import { warn } from "../engineClient/finding";
import { ggufPrecision } from "./ggufNames";

const modelSchema = z.object({
  name: z.string(),
  details: z.object({ quantization_level: z.string().nullish() }).nullish().catch(null),
  context_length: z.number().nullish(),
});
const listSchema = z.object({ models: z.array(modelSchema) });

/** Pages by which Ollama is recognised and described. */
interface OllamaPages {
  /** `/api/ps`: models in memory. */
  readonly running: unknown;
  /** `/api/tags`: models on disk. */
  readonly stored: unknown;
}

/** Ollama's statements about its models. It reports neither its queue nor how many requests it runs at once. */
export interface Ollama {
  readonly loaded: readonly { readonly name: string; readonly contextTokens: number | null }[];
  /** Of each model on disk. */
  readonly precisions: ReadonlyMap<string, Precision | null>;
}

/** Reads Ollama's lists of models; null if the pages are not from it. */
export function readOllama({ running, stored }: OllamaPages): Ollama | null {
  const [loaded, all] = [listSchema.safeParse(running), listSchema.safeParse(stored)];
  if (!loaded.success || !all.success) return null;
  return {
    loaded: loaded.data.models.map(({ name, context_length }) => ({ name, contextTokens: context_length || null })),
    precisions: new Map(all.data.models.map(({ name, details }) => [name, ggufPrecision(details?.quantization_level ?? "")])),
  };
}

/** What an operator should know about Ollama before it is attached. @param asked its name of the model that is to be attached. */
export function ollamaFindings({ loaded }: Ollama, asked: string | undefined): readonly Finding[] {
  const names = loaded.map(({ name, contextTokens }) =>
    contextTokens === null ? name : `${name} with ${contextTokens} tokens of context`,
  );
  const missing = asked !== undefined && !loaded.some(({ name }) => name === asked);
  return [
    ...(missing || loaded.length === 0
      ? [
          warn(
            "models",
            `${asked ?? "No model"} is ${asked === undefined ? "in memory" : "not in memory"}: its first request loads it, which takes seconds. In memory: ${names.join("; ") || "none"}.`,
            "Set OLLAMA_KEEP_ALIVE=-1 for Ollama, so that a model stays in memory, and load it before traffic comes.",
          ),
        ]
      : []),
    warn(
      "engine",
      "Ollama does not report how many requests it runs at once.",
      "Enter OLLAMA_NUM_PARALLEL of its environment as its requests at once; where it is not set, that is 1.",
    ),
  ];
}

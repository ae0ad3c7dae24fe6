import { z } from "zod";
import { provenanceSchema } from "../engine/provenance";
import { architectureSchema, parameterCount } from "./architecture";
import type { ModelCard } from "./modelCard";
import table from "./tables/models.json" with { type: "json" };

/** The fields of a shipped model in `tables/models.json`. */
const modelTableSchema = z.array(
  z.strictObject({
    id: z.string(),
    huggingFace: z.string().nullable(),
    publishedParamsB: z.number().positive().nullable(),
    maxContextTokens: z.int().positive(),
    precision: z.enum(["bf16", "fp8", "int4"]).default("bf16"),
    quantized: z.enum(["linear-layers", "routed-experts"]).default("linear-layers"),
    architecture: architectureSchema,
    provenance: provenanceSchema,
  }),
);

/** Defaults that most decoders share; the table omits them. */
const COMMON = { tiedEmbeddings: false, normsPerLayer: 2, slidingWindow: null };

const figures = modelTableSchema.parse(table.map((row) => ({ ...row, architecture: { ...COMMON, ...row.architecture } })));

/** Every model that Weir includes, by id. Keys and values are stored in bf16, the engines' default, also with fp8 weights. */
export const modelCards: Readonly<Record<string, ModelCard>> = Object.fromEntries(
  figures.map((model) => [model.id, { ...model, kvBytesPerValue: 2, paramsB: parameterCount(model.architecture) / 1e9 }]),
);

/** The shipped card of a model id such as `llama-3.1-8b`; undefined when there is none. */
export function modelCard(id: string): ModelCard | undefined {
  return Object.hasOwn(modelCards, id) ? modelCards[id] : undefined;
}

import { z } from "zod";
import type { Architecture } from "./architecture";
import { architectureSchema } from "./architecture";
import { BadField, Config, type Family, families, groupedQuery, statedWindow } from "./huggingFaceFamilies";
import type { ModelCard } from "./modelCard";

/** The model that a `config.json` describes. */
interface ReadConfig {
  readonly ok: true;
  readonly architecture: Architecture;
  readonly precision: ModelCard["precision"];
  readonly quantized: ModelCard["quantized"];
  readonly maxContextTokens: number;
  /** Repository name in the file (`_name_or_path`); null where it has none. */
  readonly huggingFace: string | null;
  /** Sentences about what was left out. */
  readonly notes: readonly string[];
}

export type ConfigReading = ReadConfig | { readonly ok: false; readonly message: string };

const objectSchema = z.record(z.string(), z.unknown());

/**
 * Reads the `config.json` of a Hugging Face repository. A model with image or audio input is read as its text decoder.
 *
 * @param json the parsed file.
 * @returns the architecture and the precision the weights are stored in, or one sentence that names the architecture that is not
 *   supported or the field that is missing. The only defaults are those of transformers for unwritten fields.
 */
export function parseHuggingFaceConfig(json: unknown): ConfigReading {
  const whole = objectSchema.safeParse(json);
  if (!whole.success) return { ok: false, message: "This is no config.json: an object with a field model_type was expected." };
  const inner = objectSchema.safeParse(whole.data.text_config);
  const fields = inner.success ? inner.data : whole.data;
  const modelType = String(fields.model_type ?? whole.data.model_type ?? "");
  const family = Object.hasOwn(families, modelType) ? families[modelType] : undefined;
  if (family === undefined) {
    const named = modelType === "" ? "It has no model_type" : `The architecture "${modelType}" is not supported`;
    return { ok: false, message: `${named}; supported are ${Object.keys(families).join(", ")}.` };
  }
  try {
    const config = new Config(fields);
    const architecture = architectureSchema.safeParse(architectureOf(config, family));
    if (!architecture.success) {
      const issue = architecture.error.issues[0];
      return { ok: false, message: `The config does not describe a decoder: ${issue?.path.join(".")}: ${issue?.message}.` };
    }
    const weights = weightsOf(objectSchema.safeParse(whole.data.quantization_config ?? fields.quantization_config).data ?? null);
    if (!weights.ok) return weights;
    const name = whole.data._name_or_path;
    return {
      ok: true,
      architecture: architecture.data,
      precision: weights.precision,
      // A dense checkpoint that excludes attention from quantisation does so in a few of its layers, and nothing here says in how many.
      quantized: architecture.data.feedForward.kind === "moe" ? weights.quantized : "linear-layers",
      maxContextTokens: config.count("max_position_embeddings"),
      huggingFace: typeof name === "string" && /^[\w.-]+\/[\w.-]+$/.test(name) ? name : null,
      notes: inner.success ? ["Only the text decoder is counted; what reads images or sound is not."] : [],
    };
  } catch (problem) {
    if (problem instanceof BadField) return { ok: false, message: `In the config of ${modelType}, ${problem.message}.` };
    throw problem;
  }
}

function architectureOf(config: Config, family: Family): Architecture {
  const attention = (family.attention ?? groupedQuery)(config);
  return {
    layers: config.layers(),
    hidden: config.count("hidden_size"),
    attention: attention.kind === "gqa" && family.qkvBias ? { ...attention, qkvBias: true } : attention,
    feedForward: family.feedForward?.(config) ?? { kind: "dense", ffn: config.count("intermediate_size") },
    vocabulary: config.count("vocab_size"),
    tiedEmbeddings: typeof config.fields.tie_word_embeddings === "boolean" ? config.fields.tie_word_embeddings : family.tied === true,
    normsPerLayer: family.normsPerLayer ?? 2,
    slidingWindow: (family.slidingWindow ?? statedWindow)(config),
  };
}

type Weights = { readonly ok: true } & Pick<ReadConfig, "precision" | "quantized">;

/** Precision of the stored weights by `quantization_config`; bf16 where there is none. */
function weightsOf(stated: Readonly<Record<string, unknown>> | null): Weights | { readonly ok: false; readonly message: string } {
  if (stated === null) return { ok: true, precision: "bf16", quantized: "linear-layers" };
  const kept = [stated.modules_to_not_convert, stated.ignore].flatMap((names) => (Array.isArray(names) ? names.map(String) : []));
  const quantized = kept.some((name) => name.includes("self_attn")) ? "routed-experts" : "linear-layers";
  const bits = weightBits(stated);
  if (bits === 8) return { ok: true, precision: "fp8", quantized };
  if (bits === 4) return { ok: true, precision: "int4", quantized };
  return {
    ok: false,
    message: `Weights quantised by ${JSON.stringify(stated.quant_method ?? "an unnamed method")} have no card precision: bf16, fp8 and 4-bit weights can be read.`,
  };
}

/** Bits of a weight: 8 for fp8, 4 for AWQ, GPTQ, MXFP4 and NVFP4; null for any other. */
function weightBits(stated: Readonly<Record<string, unknown>>): number | null {
  const method = String(stated.quant_method ?? "").toLowerCase();
  if (method === "fp8" || method === "fbgemm_fp8") return 8;
  if (method === "mxfp4") return 4;
  if ((method === "awq" || method === "gptq") && (stated.bits ?? stated.w_bit) === 4) return 4;
  if (method === "modelopt") return { FP8: 8, NVFP4: 4 }[String(stated.quant_algo).toUpperCase()] ?? null;
  if (method !== "compressed-tensors") return null;
  const groups = objectSchema.safeParse(stated.config_groups).data ?? {};
  const weights = Object.values(groups).map((group) => objectSchema.safeParse(objectSchema.safeParse(group).data?.weights).data);
  const [first] = weights;
  if (first?.num_bits === 8 && first.type === "float") return 8;
  return first?.num_bits === 4 ? 4 : null;
}

import { resolveModel } from "../hardware/aliases";
import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import { type EngineKind, engineKinds, engineNames } from "../hardware/engineProfile";
import { shapeRefusal } from "../hardware/parallelism";
import type { ServingRow, UnsupportedRow } from "./servingRow";

export type ReadServingRow =
  | { readonly outcome: "row"; readonly row: ServingRow }
  | { readonly outcome: "unsupported"; readonly unsupported: UnsupportedRow }
  /** The row itself is wrong: one sentence that names line and column. */
  | { readonly outcome: "bad"; readonly message: string };

/**
 * Names each column may have: Weir's own first, then those of ai-dynamo/aiconfigurator's exports. Model, GPU, engine, lengths and concurrency are
 * needed; shapes default to 1, weights to bf16, the cache to fp8 under fp8 weights and to bf16 otherwise.
 */
export const servingColumns = {
  id: ["id"],
  engine: ["engine", "backend"],
  model: ["model", "model_path"],
  gpu: ["gpu", "system"],
  tp: ["tp", "tp_size"],
  pp: ["pp", "pp_size"],
  dataParallel: ["dp", "attention_dp_size"],
  weights: ["weights", "gemm_quant_mode", "precision"],
  cache: ["kv_precision", "kv_cache_dtype", "kvcache_quant_mode"],
  mode: ["mode"],
  inputTokens: ["input_tokens", "isl"],
  outputTokens: ["output_tokens", "osl"],
  concurrency: ["concurrency"],
  ttftMs: ["ttft_ms", "silicon_ttft_ms"],
  tpotMs: ["tpot_ms", "silicon_tpot_ms"],
} as const;

type Column = keyof typeof servingColumns;

/** Columns a table must have, under any of their names. */
export const neededColumns = ["engine", "model", "gpu", "inputTokens", "outputTokens", "concurrency"] as const satisfies readonly Column[];

const WEIGHTS: Readonly<Record<string, ServingRow["precision"]>> = {
  "": "bf16",
  bf16: "bf16",
  bfloat16: "bf16",
  fp16: "bf16",
  float16: "bf16",
  fp8: "fp8",
  fp8_block: "fp8",
  fp8_static: "fp8",
  int4: "int4",
  int4_wo: "int4",
};

const CACHES: Readonly<Record<string, ServingRow["kvPrecision"]>> = {
  bf16: "bf16",
  bfloat16: "bf16",
  fp16: "bf16",
  float16: "bf16",
  auto: "bf16",
  fp8: "fp8",
  fp8_e4m3: "fp8",
  fp8_e5m2: "fp8",
};

/** GPUs as exports name them, where underscores for hyphens are not all. */
const GPU_NAMES: Readonly<Record<string, string>> = { "a100-sxm": "a100-sxm-80g", "a100-pcie": "a100-pcie-80g" };

/**
 * Reads one record of a table of measured runs.
 *
 * @param record fields by column, as text; other columns are ignored.
 * @param line of the file, for messages.
 */
export function readServingRow(record: Readonly<Record<string, string>>, line: number, cards: CardCatalogue): ReadServingRow {
  const field = (column: Column): string | undefined => {
    const name = servingColumns[column].find((one) => Object.hasOwn(record, one));
    return name === undefined ? undefined : record[name]?.trim();
  };
  const id = field("id") || `line ${line}`;
  const bad = (column: Column, found: string | undefined, wanted: string): ReadServingRow => ({
    outcome: "bad",
    message: `Line ${line}: ${nameOf(column, record)} must be ${wanted}, found "${found ?? ""}".`,
  });
  const unsupported = (reason: string): ReadServingRow => ({ outcome: "unsupported", unsupported: { line, id, reason } });

  const numbers: Partial<Record<Column, number>> = {};
  for (const [column, most, otherwise] of [
    ["tp", MOST_GPUS, 1],
    ["pp", MOST_GPUS, 1],
    ["dataParallel", MOST_GPUS, 1],
    ["inputTokens", MOST_TOKENS, undefined],
    ["outputTokens", MOST_TOKENS, undefined],
    ["concurrency", MOST_CONCURRENCY, undefined],
  ] as const) {
    const text = field(column);
    const value = text === undefined || text === "" ? otherwise : Number(text);
    if (value === undefined || !Number.isInteger(value) || value < 1 || value > most)
      return bad(column, text, `a whole number from 1 to ${most}`);
    numbers[column] = value;
  }
  const measured: Partial<Record<Column, number | null>> = {};
  for (const column of ["ttftMs", "tpotMs"] as const) {
    const text = field(column);
    const value = text === undefined || text === "" ? null : Number(text);
    if (value !== null && !(value > 0 && value < Number.POSITIVE_INFINITY)) return bad(column, text, "milliseconds above 0, or empty");
    measured[column] = value;
  }
  const { tp = 1, pp = 1, dataParallel = 1, inputTokens = 1, outputTokens = 1, concurrency = 1 } = numbers;

  const mode = field("mode") ?? "";
  if (mode !== "" && mode !== "agg") return unsupported(`mode "${mode}": only engines that prefill and decode together are modelled`);
  const engine = (field("engine") ?? "").toLowerCase();
  if (!isEngine(engine)) return unsupported(`no profile of the engine "${engine}"; known: ${Object.values(engineNames).join(", ")}`);
  const modelName = field("model") ?? "";
  const model = modelOf(modelName, cards);
  if (model === undefined) return unsupported(`no model card for "${modelName}"`);
  const gpuName = field("gpu") ?? "";
  const gpu = gpuOf(gpuName, cards);
  if (gpu === undefined) return unsupported(`no GPU card for "${gpuName}"`);
  if (dataParallel > 1) return unsupported(`data-parallel attention over ${dataParallel} groups is not modelled`);
  const weights = (field("weights") ?? "").toLowerCase();
  const precision = WEIGHTS[weights];
  if (precision === undefined) return unsupported(`weights in "${weights}" are not modelled; known: bf16, fp8, int4`);
  const cache = (field("cache") ?? "").toLowerCase();
  const kvPrecision = cache === "" ? (precision === "fp8" ? "fp8" : "bf16") : CACHES[cache];
  if (kvPrecision === undefined) return unsupported(`a KV cache in "${cache}" is not modelled; known: bf16, fp8`);
  const card = cardOf(cards.models, model);
  const refusal = card === undefined ? null : shapeRefusal(card, { tp, pp });
  if (refusal !== null) return unsupported(refusal);
  const { ttftMs = null, tpotMs = null } = measured;
  return {
    outcome: "row",
    row: {
      line,
      id,
      engine,
      model,
      gpu,
      precision,
      kvPrecision,
      shape: { tp, pp },
      inputTokens,
      outputTokens,
      concurrency,
      measured: { ttftSeconds: ttftMs === null ? null : ttftMs / 1000, tpotSeconds: tpotMs === null ? null : tpotMs / 1000 },
    },
  };
}

/** Beyond these no server of the day goes, and a simulation would not end. */
const MOST_GPUS = 4096;
const MOST_TOKENS = 4_000_000;
const MOST_CONCURRENCY = 8000;

const isEngine = (name: string): name is EngineKind => engineKinds.some((kind) => kind === name);

const nameOf = (column: Column, record: Readonly<Record<string, string>>): string =>
  servingColumns[column].find((one) => Object.hasOwn(record, one)) ?? servingColumns[column][0];

/** Card of a model id, an outcome table's name, a Hugging Face repository, or one of these with a suffix for its tuning or format. */
function modelOf(name: string, cards: CardCatalogue): string | undefined {
  const repositories = Object.values(cards.models);
  for (const tried of [
    name,
    name.replace(/-(instruct|it|chat|base|hf)$/i, ""),
    name.replace(/-(fp8|fp8-dynamic|awq|gptq|int4|w4a16)$/i, ""),
  ]) {
    const own = cardOf(cards.models, tried)?.id ?? resolveModel(tried.split("/").at(-1) ?? tried);
    if (own !== undefined) return own;
    const published = repositories.find(({ huggingFace }) => {
      const [a, b] = [huggingFace?.toLowerCase() ?? "", tried.toLowerCase()];
      return a !== "" && (a === b || a.replace(/-(instruct|it|chat)$/, "") === b || a.split("/")[1] === b);
    });
    if (published !== undefined) return published.id;
  }
  return undefined;
}

function gpuOf(name: string, cards: CardCatalogue): string | undefined {
  const id = name.toLowerCase().replaceAll("_", "-");
  return cardOf(cards.gpus, name)?.id ?? cardOf(cards.gpus, GPU_NAMES[id] ?? id)?.id;
}

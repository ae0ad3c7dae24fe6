import { findGpu, findModel, nearestNames, weightFormats } from "../hardware/aliases";
import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import { type EngineKind, engineKinds, engineNames } from "../hardware/engineProfile";
import type { ModelCard } from "../hardware/modelCard";
import { shapeRefusal } from "../hardware/parallelism";
import { type RowOrigin, rowOrigins, type ServingRow, type UnsupportedRow } from "./servingRow";

export type ReadServingRow =
  | { readonly outcome: "row"; readonly row: ServingRow }
  | { readonly outcome: "unsupported"; readonly unsupported: UnsupportedRow }
  /** The error in the row itself, beginning with the column. */
  | { readonly outcome: "bad"; readonly message: string };

/**
 * Possible names of each column: Weir's own first, then those of ai-dynamo/aiconfigurator's exports. Model, GPU, engine, lengths and
 * concurrency are required. Defaults: a row is of a run; limits of the engine are the requests in flight, lengths those of public runs,
 * shapes 1, weights those in the model's name or its published format, the cache fp8 with fp8 weights and bf16 otherwise.
 */
export const servingColumns = {
  id: ["id"],
  origin: ["measured_on"],
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
  maxSequences: ["max_num_seqs", "max_running_requests"],
  maxBatchedTokens: ["max_num_batched_tokens", "chunked_prefill_size"],
  leastLengthShare: ["random_range_ratio"],
  requests: ["n", "num_requests"],
  ttftMs: ["ttft_ms", "silicon_ttft_ms"],
  tpotMs: ["tpot_ms", "silicon_tpot_ms"],
} as const;

type Column = keyof typeof servingColumns;

/** Columns a table must have, under any of their names. */
export const neededColumns = ["engine", "model", "gpu", "inputTokens", "outputTokens", "concurrency"] as const satisfies readonly Column[];

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
    message: `${nameOf(column, record)} must be ${wanted}, found "${found ?? ""}"`,
  });
  const unsupported = (reason: string): ReadServingRow => ({ outcome: "unsupported", unsupported: { line, id, reason } });
  const withoutCard = (kind: "model" | "gpu", name: string): ReadServingRow => {
    const near = nearestNames(name, Object.keys(kind === "model" ? cards.models : cards.gpus));
    const reason = `the ${kind === "model" ? kind : "GPU"} "${name}" is not known${near}; add a card on the Cards page`;
    return { outcome: "unsupported", unsupported: { line, id, reason, missingCard: { kind, name } } };
  };

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
    const value = text === undefined || text === "" ? otherwise : WHOLE.test(text) ? Number(text) : undefined;
    if (value === undefined || value < 1 || value > most) return bad(column, text, `a whole number from 1 to ${most}`);
    numbers[column] = value;
  }
  for (const column of ["maxSequences", "maxBatchedTokens", "requests"] as const) {
    const text = field(column);
    if (text === undefined || text === "") continue;
    if (!WHOLE.test(text) || Number(text) < 1 || Number(text) > MOST_TOKENS)
      return bad(column, text, `a whole number from 1 to ${MOST_TOKENS}, or empty`);
    numbers[column] = Number(text);
  }
  const share = field("leastLengthShare");
  if (share !== undefined && share !== "") {
    if (!DECIMAL.test(share) || !(Number(share) > 0 && Number(share) <= 1))
      return bad("leastLengthShare", share, "above 0, up to 1, or empty");
    numbers.leastLengthShare = Number(share);
  }
  const measured: Partial<Record<Column, number | null>> = {};
  for (const column of ["ttftMs", "tpotMs"] as const) {
    const text = field(column);
    const value = text === undefined || text === "" ? null : DECIMAL.test(text) ? Number(text) : Number.NaN;
    if (value !== null && !(value >= LEAST_MS && value <= MOST_MS))
      return bad(column, text, `milliseconds from ${LEAST_MS} to ${MOST_MS}, or empty`);
    measured[column] = value;
  }
  const originName = field("origin") || "run";
  if (!isOrigin(originName)) return bad("origin", originName, `one of ${rowOrigins.join(", ")}, or empty`);
  const { tp = 1, pp = 1, dataParallel = 1, inputTokens = 1, outputTokens = 1, concurrency = 1 } = numbers;

  const mode = field("mode") ?? "";
  if (mode !== "" && mode !== "agg") return unsupported(`mode "${mode}": only engines that prefill and decode together are modelled`);
  const engine = (field("engine") ?? "").toLowerCase();
  if (!isEngine(engine)) return unsupported(`no profile of the engine "${engine}"; known: ${Object.values(engineNames).join(", ")}`);
  const modelName = field("model") ?? "";
  const model = findModel(modelName, cards.models);
  if (model === undefined) return withoutCard("model", modelName);
  const gpuName = field("gpu") ?? "";
  const gpu = findGpu(gpuName, cards.gpus);
  if (gpu === undefined) return withoutCard("gpu", gpuName);
  if (dataParallel > 1) return unsupported(`data-parallel attention over ${dataParallel} groups is not modelled`);
  const weights = (field("weights") ?? "").toLowerCase().replaceAll("-", "_");
  const precision = weights === "" ? model.precision : cardOf(weightFormats, weights);
  if (FOUR_BYTES.includes(weights))
    return unsupported(
      `weights in "${weights}" are not modelled; call them bf16, and a fit takes their greater size into the efficiencies of kernels`,
    );
  if (precision === undefined)
    return unsupported(`weights in "${weights}" are not modelled; known: bf16, fp8, and int4 as awq, gptq, w4a16 or mxfp4`);
  const cache = (field("cache") ?? "").toLowerCase();
  const kvPrecision = cache === "" ? (precision === "fp8" ? "fp8" : "bf16") : cardOf(CACHES, cache);
  if (kvPrecision === undefined) return unsupported(`a KV cache in "${cache}" is not modelled; known: bf16, fp8`);
  const refusal =
    shapeRefusal(model.card, { tp, pp }) ??
    contextRefusal(model.card, inputTokens, outputTokens) ??
    effortRefusal(inputTokens, outputTokens, concurrency);
  if (refusal !== null) return unsupported(refusal);
  const { ttftMs = null, tpotMs = null } = measured;
  const { maxSequences, maxBatchedTokens, leastLengthShare, requests } = numbers;
  const limits = {
    ...(maxSequences === undefined ? {} : { maxSequences }),
    ...(maxBatchedTokens === undefined ? {} : { maxBatchedTokens }),
  };
  return {
    outcome: "row",
    row: {
      line,
      id,
      origin: originName,
      engine,
      model: model.card.id,
      gpu: gpu.id,
      precision,
      kvPrecision,
      shape: { tp, pp },
      inputTokens,
      outputTokens,
      concurrency,
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(leastLengthShare === undefined ? {} : { leastLengthShare }),
      ...(requests === undefined ? {} : { requests }),
      measured: { ttftSeconds: ttftMs === null ? null : ttftMs / 1000, tpotSeconds: tpotMs === null ? null : tpotMs / 1000 },
    },
  };
}

/** No current server exceeds these, and a simulation would not end. */
const MOST_GPUS = 4096;
const MOST_TOKENS = 4_000_000;
const MOST_CONCURRENCY = 8000;

/** No engine answers faster, and no client waits longer: 10 microseconds and a day. */
const LEAST_MS = 0.01;
const MOST_MS = 86_400_000;

/** Plain decimals: other inputs of `Number` (0x1, 1e1, blanks) are mistakes in a table. Exports write whole numbers as 8.0. */
const WHOLE = /^\d+(\.0*)?$/;
const DECIMAL = /^\d*\.?\d+(e-?\d+)?$/i;

/** Formats of engines on CPUs, for which no card has figures. */
const FOUR_BYTES = ["fp32", "float32"];

const isEngine = (name: string): name is EngineKind => engineKinds.some((kind) => kind === name);

const isOrigin = (name: string): name is RowOrigin => rowOrigins.some((origin) => origin === name);

const nameOf = (column: Column, record: Readonly<Record<string, string>>): string =>
  servingColumns[column].find((one) => Object.hasOwn(record, one)) ?? servingColumns[column][0];

/** Why a model accepts no such request, whatever its engine; null when it does. */
export const contextRefusal = ({ id, maxContextTokens }: ModelCard, inputTokens: number, outputTokens: number): string | null =>
  inputTokens + outputTokens <= maxContextTokens
    ? null
    : `${inputTokens} prompt and ${outputTokens} answer tokens exceed the context of ${maxContextTokens} tokens of ${id}`;

/**
 * Bounds at which 347 runs of random models, GPUs and lengths took at most 3.8 s to simulate on a busy core, nearly all under 2 s. Most
 * time goes to recomputing requests that a full cache preempted (more of them the longer the answers), and to prompts of very many steps.
 */
const MOST_WAITING = 20_000;
const MOST_PROMPT_TOKENS = 3e9;

/** Why a run is not simulated though it could be; null when it is. */
function effortRefusal(inputTokens: number, outputTokens: number, concurrency: number): string | null {
  const most = Math.floor(Math.min(MOST_WAITING / Math.log2(2 + outputTokens), MOST_PROMPT_TOKENS / inputTokens));
  return concurrency <= most
    ? null
    : `${concurrency} requests in flight with ${inputTokens} prompt and ${outputTokens} answer tokens would take too long to simulate; up to ${most} are`;
}

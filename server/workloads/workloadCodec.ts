import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { comparedAnswersSchema, confidenceReadingSchema, learntScorerSchema } from "@/solver/gates/gateDocument";
import { canonicalJson } from "@/solver/plan/canonical";
import { gateColumns, gateColumnsOf } from "@/solver/workload/gateColumns";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";

/** First bytes of an encoded workload; the digit is the version of the layout. */
const MAGIC = "weir-workload/1\n";

/** Unpacked size above which bytes are taken for a compression bomb, not a workload: 20 million outcomes. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

const headerSchema = z.object({
  name: z.string(),
  seed: z.int(),
  judge: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("measured") }),
    z.object({ kind: z.literal("modelled"), auc: z.number().min(0.5).max(1), seed: z.int() }),
  ]),
  origin: z.object({
    outcomes: z.string(),
    arrivals: z.string(),
    generated: z.boolean(),
    observed: z.literal(true).optional(),
    measured: z
      .object({
        emulated: z.boolean(),
        gate: z.object({ id: z.string(), name: z.string() }),
        label: z.object({ id: z.string(), name: z.string() }),
      })
      .optional(),
    agreement: comparedAnswersSchema.optional(),
    confidence: confidenceReadingSchema.optional(),
    scorers: z.record(z.string(), learntScorerSchema).optional(),
    byHour: z.array(z.number().nullable()).length(24).optional(),
  }),
  arrivals: z.int().min(2),
  promptIds: z.array(z.string()).min(2),
  categories: z.array(z.string()),
  /** Hashes of each prompt's shared blocks, as the bytes of little-endian uint32 in base64. */
  promptBlocks: z.array(z.base64()).optional(),
  models: z.array(z.object({ model: z.string(), tableName: z.string(), columns: z.array(z.enum(gateColumns)).optional() })).min(1),
});

/**
 * Packs a workload for storage: gzip of the magic, the header's length (uint32), the header as JSON, and then the columns in their memory
 * layout, little-endian: arrivals (float64), input tokens (int32), and per model output tokens (int32), labels, judged scores and those of
 * the further gates that the header names (float64).
 */
export function encodeWorkload(workload: Workload): Buffer {
  const { outcomes, name, seed, judge, origin } = workload;
  const header = Buffer.from(
    JSON.stringify({
      name,
      seed,
      judge,
      origin,
      arrivals: workload.arrivalSeconds.length,
      promptIds: outcomes.promptIds,
      categories: outcomes.categories,
      ...describeBlocks(outcomes),
      models: outcomes.models.map(describeColumns),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return gzipSync(Buffer.concat([Buffer.from(MAGIC), length, header, ...columnsOf(workload)]));
}

/**
 * Unpacks a workload and checks it whole: sizes, finite numbers, scores in 0..100, ascending arrivals.
 *
 * @throws Error when the bytes are no workload of this version or are damaged.
 */
export function decodeWorkload(packed: Uint8Array): Workload {
  const bytes = unpack(packed);
  const headerEnd = MAGIC.length + 4 + bytes.readUInt32LE(MAGIC.length);
  const header = readHeader(bytes.toString("utf8", MAGIC.length + 4, headerEnd));
  const prompts = header.promptIds.length;
  if (header.categories.length !== prompts) throw damaged(`${header.categories.length} categories for ${prompts} prompts`);
  if ((header.promptBlocks?.length ?? prompts) !== prompts) throw damaged(`${header.promptBlocks?.length} prompts' blocks for ${prompts}`);
  const further = header.models.reduce((sum, { columns = [] }) => sum + columns.length, 0);
  const expectedEnd = headerEnd + 8 * header.arrivals + 4 * prompts + (header.models.length * 20 + further * 8) * prompts;
  if (bytes.length !== expectedEnd) throw damaged(`${bytes.length} bytes where ${expectedEnd} were expected`);

  let at = headerEnd;
  // Copied out: typed arrays need an alignment that the header's length does not give.
  const take = (size: number): ArrayBuffer => {
    const column = new ArrayBuffer(size);
    new Uint8Array(column).set(bytes.subarray(at, at + size));
    at += size;
    return column;
  };
  const arrivalSeconds = new Float64Array(take(8 * header.arrivals));
  if (arrivalSeconds.some((seconds, index) => !(seconds >= (arrivalSeconds[index - 1] ?? 0)))) throw damaged("arrivals do not ascend");
  const tokens = (): Int32Array => checked(new Int32Array(take(4 * prompts)), { low: 1, high: Number.MAX_SAFE_INTEGER });
  const scores = (): Float64Array => checked(new Float64Array(take(8 * prompts)), { low: 0, high: 100 });
  const inputTokens = tokens();
  const models = header.models.map(({ columns = [], ...model }) => ({
    ...{ ...model, outputTokens: tokens(), label: scores(), judged: scores() },
    ...Object.fromEntries(columns.map((name) => [name, scores()])),
  }));
  return {
    name: header.name,
    outcomes: {
      ...{ promptIds: header.promptIds, categories: header.categories, inputTokens, models },
      ...(header.promptBlocks && { promptBlocks: header.promptBlocks.map(blocksOf) }),
    },
    arrivalSeconds,
    judge: header.judge,
    origin: header.origin,
    seed: header.seed,
  };
}

/**
 * SHA-256, in hex, of everything a plan can depend on: outcomes, shared prompts, arrivals, judge, seed, and what the columns of gates hold. Not of the
 * name and the rest of the origin, which are words: the same content under another name has the same hash.
 */
export function workloadHash(workload: Workload): string {
  const { outcomes, judge, seed, origin } = workload;
  const { agreement, confidence, scorers } = origin;
  const hash = createHash("sha256").update(
    canonicalJson({
      promptIds: outcomes.promptIds,
      categories: outcomes.categories,
      ...describeBlocks(outcomes),
      models: outcomes.models.map(describeColumns),
      arrivals: workload.arrivalSeconds.length,
      judge: { ...judge },
      seed,
      ...(agreement === undefined ? {} : { agreement: { ...agreement } }),
      ...(confidence === undefined ? {} : { confidence: { ...confidence } }),
      ...(scorers === undefined ? {} : { scorers: { ...scorers } }),
    }),
  );
  for (const column of columnsOf(workload)) hash.update(column);
  return hash.digest("hex");
}

/** Shared blocks of prompts as headers have them; nothing where they are not known, so that hashes of earlier tables stay. */
function describeBlocks({ promptBlocks }: Workload["outcomes"]): { readonly promptBlocks?: readonly string[] } {
  if (promptBlocks === undefined) return {};
  return {
    promptBlocks: promptBlocks.map((blocks) => {
      const bytes = Buffer.alloc(4 * blocks.length);
      for (const [at, block] of blocks.entries()) bytes.writeUInt32LE(block, 4 * at);
      return bytes.toString("base64");
    }),
  };
}

function blocksOf(text: string): Uint32Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 !== 0) throw damaged(`${bytes.length} bytes of a prompt's blocks are no whole numbers`);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(4 * at));
}

/** A model and its gate columns as headers name them; nothing of columns where it has none, so that hashes of earlier tables stay. */
export function describeColumns(outcomes: ModelOutcomes) {
  const { model, tableName } = outcomes;
  const columns = gateColumnsOf(outcomes);
  return { model, tableName, ...(columns.length === 0 ? {} : { columns: [...columns] }) };
}

/** The columns in the order in which they are stored and hashed. */
function columnsOf({ arrivalSeconds, outcomes }: Workload): readonly Uint8Array[] {
  const columns = [
    arrivalSeconds,
    outcomes.inputTokens,
    ...outcomes.models.flatMap((column) => [
      ...[column.outputTokens, column.label, column.judged],
      ...gateColumnsOf(column).flatMap((name) => column[name] ?? []),
    ]),
  ];
  return columns.map((column) => new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
}

function unpack(packed: Uint8Array): Buffer {
  let bytes: Buffer;
  try {
    bytes = gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (cause) {
    throw new Error("Not a stored workload: the bytes are not gzip, cut short or damaged", { cause });
  }
  if (bytes.length < MAGIC.length + 4 || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    throw new Error(`Not a stored workload of this version: it does not begin with '${MAGIC.trim()}'`);
  }
  return bytes;
}

function readHeader(text: string): z.infer<typeof headerSchema> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw new Error("Stored workload is damaged: its header is not JSON", { cause });
  }
  const read = headerSchema.safeParse(header);
  if (!read.success) throw damaged(z.prettifyError(read.error).replaceAll("\n", " "));
  return read.data;
}

function checked<Column extends Int32Array | Float64Array>(column: Column, { low, high }: { low: number; high: number }): Column {
  for (const value of column) if (!(value >= low && value <= high)) throw damaged(`the value ${value} is outside ${low}..${high}`);
  return column;
}

const damaged = (what: string): Error => new Error(`Stored workload is damaged: ${what}`);

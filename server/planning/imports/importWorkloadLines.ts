import { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import { textLines } from "@/server/lib/textLines";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { WORKLOAD_FORMAT } from "@/server/workloads/workloadLines";
import { isRecord } from "@/solver/collections/isRecord";
import { comparedAnswersSchema, confidenceReadingSchema, learntScorerSchema } from "@/solver/gates/gateDocument";
import { MOST_BLOCKS } from "@/solver/prefix/promptBlocks";
import { gateColumns } from "@/solver/workload/gateColumns";
import { shown } from "@/solver/workload/outcomeRow";
import type { Workload } from "@/solver/workload/workload";
import type { CsvSource } from "./readCsv";
import { createRefusedRows } from "./refusedRows";

/** Outcomes of all models above which a file is refused before it is read: the most that a store can unpack again. */
const MAX_OUTCOMES = 20_000_000;
const MAX_ARRIVALS = 50_000_000;
const MAX_TOKENS = 10_000_000;

const score = z.number("give a score from 0 to 100").min(0, "give a score from 0 to 100").max(100, "give a score from 0 to 100");
const tokens = z.int("give whole tokens").min(1, "give at least 1 token").max(MAX_TOKENS, "give at most 10,000,000 tokens");
const name = z
  .string()
  .min(1, "is empty")
  .max(500, "is longer than 500 characters")
  .regex(/^\P{Cc}*$/u, "holds line breaks or control characters");

const measureSchema = z.object({ id: z.string().max(80), name: z.string().max(200) });

const headerSchema = z.object({
  format: z.literal(WORKLOAD_FORMAT),
  name: name.max(200, "is longer than 200 characters"),
  seed: z.int(),
  judge: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("measured") }),
    z.object({ kind: z.literal("modelled"), auc: z.number().min(0.5).max(1), seed: z.int() }),
  ]),
  origin: z.object({
    outcomes: z.string().max(2000),
    arrivals: z.string().max(2000),
    generated: z.boolean(),
    observed: z.literal(true).optional(),
    measured: z.object({ emulated: z.boolean(), gate: measureSchema, label: measureSchema }).optional(),
    agreement: comparedAnswersSchema.optional(),
    confidence: confidenceReadingSchema.optional(),
    scorers: z.record(z.string(), learntScorerSchema).optional(),
    byHour: z.array(z.number().min(0).nullable()).length(24).optional(),
  }),
  models: z
    // An object of outcomes has no entry of this name.
    .array(
      z.object({
        model: name.refine((model) => model !== "__proto__", "is no name that a model can have"),
        tableName: name,
        columns: z.array(z.enum(gateColumns)).optional(),
      }),
    )
    .min(1, "name at least one model")
    .refine((models) => new Set(models.map(({ model }) => model)).size === models.length, { error: "names a model twice" }),
  prompts: z.int().min(2, "a workload has at least 2 prompts"),
  arrivals: z.int().min(2, "a workload has at least 2 arrivals").max(MAX_ARRIVALS),
  /** Absent if a tool cannot compute it: then a changed number is not detected. */
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

const promptSchema = z.strictObject({
  // It is sent in brackets in front of a replayed prompt.
  id: name.regex(/^[^[\]]*$/, "holds square brackets"),
  category: z.string().max(500, "is longer than 500 characters"),
  inputTokens: tokens,
  /** Hashes of the blocks that it shares with another prompt. Absent in all lines: not known. */
  promptBlocks: z.array(z.int().min(0).max(0xffffffff)).max(MOST_BLOCKS, `has more than ${MOST_BLOCKS} blocks`).optional(),
  models: z.record(
    z.string(),
    z.strictObject({
      ...{ outputTokens: tokens, label: score, judged: score },
      ...{ confidence: score.optional(), agreement: score.optional(), scorer: score.optional() },
    }),
  ),
});

const arrivalsSchema = z.strictObject({ arrivalSeconds: z.array(z.number().min(0)).min(1) });

type Header = z.infer<typeof headerSchema>;

export type ImportedWorkload = Outcome<{ readonly workload: Workload }>;

/**
 * Reads a workload from its lines, written by `workloadLines` or another tool: first the header, then prompts, then arrivals.
 *
 * @returns the workload, or one sentence with the first line that is damaged or missing and its problem.
 * @throws whatever the stream throws.
 */
export async function importWorkloadLines({ name: file, stream }: CsvSource): Promise<ImportedWorkload> {
  let reader: ReturnType<typeof columnsFor> | null = null;
  let last = 0;
  const refused = createRefusedRows(file);
  reading: for await (const lines of textLines(buffers(stream))) {
    for (const each of lines) {
      last = each.line;
      const reason = "problem" in each ? each.problem : take(each.text);
      if (reason !== null) refused.add({ line: each.line, reason });
      // Without a header the lines after it cannot be checked.
      if (refused.isEnough(each.line) || (reader === null && reason !== null)) break reading;
    }
  }
  const refusal = refused.message();
  if (refusal !== null) return refuse(`${refusal}. Nothing was imported.`);
  if (reader === null) return refuse(`${file} is empty: its first line says what workload it is.`);
  return finish(reader, file, last);

  function take(text: string): string | null {
    const value = parsed(text);
    if (reader !== null) return value === null ? "is not a JSON object" : reader.take(value);
    const format = value?.format;
    if (format !== WORKLOAD_FORMAT) {
      return `it is no workload: its first line says no "format": "${WORKLOAD_FORMAT}"${typeof format === "string" ? `, but ${shown(format)}` : ""}`;
    }
    const header = headerSchema.safeParse(value);
    if (!header.success) return sentence(header.error);
    if (header.data.prompts * header.data.models.length > MAX_OUTCOMES)
      return "promises more outcomes than 20 million, the most that is kept";
    reader = columnsFor(header.data);
    return null;
  }
}

/** Adds lines one by one to the columns that a header declares; each returns its problem, or null. */
function columnsFor(header: Header) {
  const { prompts, models } = header;
  const promptIds: string[] = [];
  const categories: string[] = [];
  const seen = new Set<string>();
  const inputTokens = new Int32Array(prompts);
  const columns = models.map(({ columns: further = [], ...model }) => ({
    ...model,
    outputTokens: new Int32Array(prompts),
    label: new Float64Array(prompts),
    judged: new Float64Array(prompts),
    ...(further.includes("confidence") ? { confidence: new Float64Array(prompts) } : {}),
    ...(further.includes("agreement") ? { agreement: new Float64Array(prompts) } : {}),
    ...(further.includes("scorer") ? { scorer: new Float64Array(prompts) } : {}),
  }));
  const promptBlocks: Uint32Array[] = [];
  let knowsBlocks = false;
  const arrivalSeconds = new Float64Array(header.arrivals);
  let arrived = 0;

  function takePrompt(value: unknown): string | null {
    const read = promptSchema.safeParse(value);
    if (!read.success) return sentence(read.error);
    const row = promptIds.length;
    if (row === prompts) return `is one prompt more than the ${prompts} that the first line promises`;
    const { id, category, models: outcomes } = read.data;
    if (seen.has(id)) return `prompt ${shown(id)} is in it twice`;
    const stranger = Object.keys(outcomes).find((model) => !models.some((own) => own.model === model));
    if (stranger !== undefined) return `models.${shown(stranger)} is not among the models of the first line`;
    for (const column of columns) {
      const outcome = Object.hasOwn(outcomes, column.model) ? outcomes[column.model] : undefined;
      if (outcome === undefined) return `models.${column.model} is missing`;
      column.outputTokens[row] = outcome.outputTokens;
      column.label[row] = outcome.label;
      column.judged[row] = outcome.judged;
      for (const name of gateColumns) {
        const [own, value] = [column[name], outcome[name]];
        if (own !== undefined && value === undefined) return `models.${column.model}.${name} is missing`;
        if (own === undefined && value !== undefined) return `models.${column.model}.${name} is not among the columns of the first line`;
        if (own !== undefined && value !== undefined) own[row] = value;
      }
    }
    seen.add(id);
    promptIds.push(id);
    categories.push(category);
    inputTokens[row] = read.data.inputTokens;
    promptBlocks.push(Uint32Array.from(read.data.promptBlocks ?? []));
    knowsBlocks ||= read.data.promptBlocks !== undefined;
    return null;
  }

  function takeArrivals(value: unknown): string | null {
    const read = arrivalsSchema.safeParse(value);
    if (!read.success) return sentence(read.error);
    if (promptIds.length < prompts) return `arrivals come after ${promptIds.length} of ${prompts} prompts: prompts are missing`;
    for (const seconds of read.data.arrivalSeconds) {
      if (arrived === arrivalSeconds.length) return `holds more arrivals than the ${arrived} that the first line promises`;
      if (seconds < (arrivalSeconds[arrived - 1] ?? 0)) return `arrival ${seconds} comes before the one that it follows`;
      arrivalSeconds[arrived] = seconds;
      arrived += 1;
    }
    return null;
  }

  return {
    header,
    take: (value: Readonly<Record<string, unknown>>) => ("arrivalSeconds" in value ? takeArrivals(value) : takePrompt(value)),
    counts: () => ({ prompts: promptIds.length, arrivals: arrived }),
    workload: (): Workload => ({
      name: header.name,
      outcomes: { promptIds, categories, inputTokens, ...(knowsBlocks && { promptBlocks }), models: columns },
      arrivalSeconds,
      judge: header.judge,
      origin: header.origin,
      seed: header.seed,
    }),
  };
}

function finish({ header, counts, workload }: ReturnType<typeof columnsFor>, file: string, lastLine: number): ImportedWorkload {
  const { prompts, arrivals } = counts();
  const cut = (found: number, promised: number, what: string): ImportedWorkload =>
    refuse(`${file} ends with line ${lastLine} after ${found} of ${promised} ${what}: it is cut short. Nothing was imported.`);
  if (prompts < header.prompts) return cut(prompts, header.prompts, "prompts");
  if (arrivals < header.arrivals) return cut(arrivals, header.arrivals, "arrivals");
  const read = workload();
  const [first = 0, last = 0] = [read.arrivalSeconds[0], read.arrivalSeconds.at(-1)];
  if (first === last) return refuse(`${file} line ${lastLine}: all arrivals are at ${first} s. Nothing was imported.`);
  if (header.hash !== undefined && workloadHash(read) !== header.hash) {
    return refuse(
      `${file} line 1: the lines below are not those that its hash was made of, so something in them was changed. Leave the hash out to import them as they are. Nothing was imported.`,
    );
  }
  return { ok: true, workload: read };
}

async function* buffers(stream: CsvSource["stream"]): AsyncGenerator<Buffer> {
  for await (const chunk of stream)
    yield typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function sentence({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `${issue?.path.map(String).join(".") || "it"}: ${issue?.message ?? "does not fit"}`;
}

const refuse = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

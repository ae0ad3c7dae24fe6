import { z } from "zod";

/** The engine data that Weir needs, for every type: each metric with its unit and meaning. */
export const canonicalMetrics = {
  running: { kind: "number", unit: "requests", meaning: "in the batch that is computed" },
  waiting: { kind: "number", unit: "requests", meaning: "in the engine's own queue" },
  kvUse: { kind: "share", unit: "0..1", meaning: "KV cache in use: of the fullest rank, and the mean of the ranks" },
  kvCapacityTokens: { kind: "capacity", unit: "tokens", meaning: "that the KV caches of all ranks hold" },
  preemptions: { kind: "number", unit: "since the start", meaning: "requests whose KV was given up for others (SGLang: retracted)" },
  promptTokens: { kind: "number", unit: "since the start", meaning: "tokens of prompts, those found in the prefix cache among them" },
  generationTokens: { kind: "number", unit: "since the start", meaning: "tokens generated" },
  prefixQueries: { kind: "number", unit: "since the start", meaning: "tokens looked up in the prefix cache" },
  prefixHits: { kind: "number", unit: "since the start", meaning: "tokens found there" },
  answered: { kind: "number", unit: "since the start", meaning: "requests that got their answer; aborted and failed ones do not count" },
  ttftSeconds: { kind: "histogram", unit: "seconds", meaning: "to the first token" },
  tpotSeconds: { kind: "histogram", unit: "seconds", meaning: "per output token, one mean a request" },
  itlSeconds: { kind: "histogram", unit: "seconds", meaning: "between tokens, each gap counted" },
  endToEndSeconds: { kind: "histogram", unit: "seconds", meaning: "to the last token" },
  queueSeconds: { kind: "histogram", unit: "seconds", meaning: "in the engine's own queue" },
  sleepState: { kind: "state", unit: "", meaning: "awake, or how the engine sleeps, in its words" },
} as const;

export type CanonicalMetric = keyof typeof canonicalMetrics;
export const canonicalMetricNames = Object.keys(canonicalMetrics) as readonly CanonicalMetric[];

const text = z.string().min(1);
const labelValues = z.record(text, z.array(z.string()).min(1));

/** Series of one metric. Names are without the engine's prefix. */
const seriesFields = {
  name: text,
  /** A series that has this label counts only with one of these values; a series without the label counts. */
  only: labelValues.optional(),
  /** A series with one of these values does not count. */
  except: labelValues.optional(),
};
const seriesSchema = z.strictObject(seriesFields);

/** A gauge or a counter; several series (data-parallel ranks) are summed. */
const numberSchema = z.strictObject({ ...seriesFields, plus: seriesSchema.optional() });
/** A share 0..1; `of` makes it one of two numbers. */
const shareSchema = z.strictObject({ ...seriesFields, of: seriesSchema.optional() });
/** Tokens directly; or the product of two labels of an information metric; or blocks `times` the tokens of one. */
const capacitySchema = z.strictObject({ ...seriesFields, labels: z.array(text).min(1).optional(), times: seriesSchema.optional() });
/** The value of `label` of the series that is 1. */
const stateSchema = z.strictObject({ ...seriesFields, label: text });

/** Of several sources the first existing one is used. null: engines of this row have no such metric. */
const of = <Source extends z.ZodType>(source: Source) => z.array(source).min(1).nullable();

const kinds = {
  number: of(numberSchema),
  share: of(shareSchema),
  capacity: of(capacitySchema),
  histogram: of(seriesSchema),
  state: of(stateSchema),
};
type Kinds = typeof kinds;
const canonicalMetricFields = Object.fromEntries(canonicalMetricNames.map((name) => [name, kinds[canonicalMetrics[name].kind]])) as {
  [Name in CanonicalMetric]: Kinds[(typeof canonicalMetrics)[Name]["kind"]];
};

const ruleFields = {
  /** Ranks that repeat one value: of series that otherwise have equal labels the one with the lowest rank counts. */
  lowestOf: z.array(text).default([]),
  /** Processes of which one has the value and the others 0: of series that otherwise have equal labels the largest counts. */
  largestOf: z.array(text).default([]),
  /** A value that marks the aggregate of several parts: if it exists the parts do not count. */
  aggregate: z.record(text, z.string()).default({}),
};

const version = z.string().regex(/^\d+(\.\d+)*$/, "a version is numbers and points, as 0.9.2");

/** The metric names of one engine type in a range of its versions, as a row of data. */
export const engineRowSchema = z.strictObject({
  engine: text,
  /** Each of them may precede every name. */
  prefixes: z.array(text).min(1),
  /** The continuation of this engine's names, if other programs write the prefix too: text without such a name is not its own. */
  sign: text.optional(),
  /** First version with these names and first version without them; null is open. */
  versions: z.strictObject({ from: version.nullable().default(null), before: version.nullable().default(null) }).prefault({}),
  /** Only builds whose version contains this text. */
  build: text.optional(),
  /** Names that identify the row if the version is not known. */
  marks: z.array(text).default([]),
  series: z.strictObject(ruleFields).prefault({}),
  canonicalMetrics: z.strictObject(canonicalMetricFields).partial(),
});

/** A row as written; every metric that it omits is not applicable. */
export type EngineRow = z.input<typeof engineRowSchema>;
type ReadRow = z.output<typeof engineRowSchema>;
export type SeriesSource = z.output<typeof seriesSchema>;
export type SeriesRules = ReadRow["series"];
export type MetricSources = {
  readonly [Name in CanonicalMetric]: NonNullable<z.output<Kinds[(typeof canonicalMetrics)[Name]["kind"]]>> | null;
};

/** A row under one of its prefixes, with whole names. */
export interface EngineMapping {
  readonly engine: string;
  readonly prefix: string;
  /** The beginning of one of its names, at least the prefix. */
  readonly sign: string;
  readonly versions: ReadRow["versions"];
  readonly build: string | null;
  readonly marks: readonly string[];
  readonly series: SeriesRules;
  readonly canonicalMetrics: MetricSources;
}

/** The mappings of a row, one for each prefix. */
export function mappingsOf(row: EngineRow): readonly EngineMapping[] {
  const { engine, prefixes, sign = "", versions, build = null, marks, series, canonicalMetrics: sources } = engineRowSchema.parse(row);
  return prefixes.map((prefix) => ({
    engine,
    prefix,
    sign: prefix + sign,
    versions,
    build,
    marks: marks.map((name) => prefix + name),
    series,
    canonicalMetrics: Object.fromEntries(
      canonicalMetricNames.map((name) => [name, sources[name]?.map((source) => prefixed(source, prefix)) ?? null]),
    ) as unknown as MetricSources,
  }));
}

interface Part {
  readonly name: string;
  readonly plus?: Part | undefined;
  readonly of?: Part | undefined;
  readonly times?: Part | undefined;
}

/** The source with whole names, including those of its parts. */
function prefixed(source: Part, prefix: string): Part {
  const parts = (["plus", "of", "times"] as const).flatMap((part) => {
    const other = source[part];
    return other === undefined ? [] : [[part, prefixed(other, prefix)] as const];
  });
  return { ...source, name: prefix + source.name, ...Object.fromEntries(parts) };
}

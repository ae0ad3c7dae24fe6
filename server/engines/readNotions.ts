import type { EngineMapping, NotionSources, SeriesRules, SeriesSource } from "./engineMapping";
import type { PromSample, PromText } from "./promText";

/** What one exposition says of one notion. Absent is never zero. */
export type Reading<Value> =
  | { readonly state: "value"; readonly value: Value }
  | { readonly state: "absent"; readonly lookedFor: string }
  /** Engines of this type and version have no such metric. */
  | { readonly state: "not-applicable" };

/** Cumulative counts by upper bound, of all ranks; the last bound is +Inf. */
export interface BucketCounts {
  readonly bounds: readonly number[];
  readonly cumulative: readonly number[];
  /** Of all that was observed; null where the engine does not write it. */
  readonly sum: number | null;
}

type SourceOf<Name extends keyof NotionSources> = NonNullable<NotionSources[Name]>[number];
type Read<Source, Value> = (source: Source, metrics: PromText, rules: SeriesRules) => Value | null;

/** The samples of `name` that count. */
export function seriesOf(metrics: PromText, name: string, { only, except }: SeriesSource, rules: SeriesRules): readonly PromSample[] {
  let samples = (metrics.byName.get(name) ?? []).filter(({ value }) => Number.isFinite(value));
  for (const [label, values] of Object.entries(only ?? {})) {
    samples = samples.filter(({ labels }) => labels[label] === undefined || values.includes(labels[label]));
  }
  for (const [label, values] of Object.entries(except ?? {})) {
    samples = samples.filter(({ labels }) => labels[label] === undefined || !values.includes(labels[label]));
  }
  if (samples.length < 2) return samples;
  // A series that is written twice counts once, as Prometheus has it.
  samples = [...new Map(samples.toReversed().map((sample) => [sample.labelText, sample])).values()].reverse();
  for (const [label, whole] of Object.entries(rules.aggregate)) {
    if (samples.some(({ labels }) => labels[label] === whole))
      samples = samples.filter(({ labels }) => labels[label] === undefined || labels[label] === whole);
  }
  samples = oneOfEach(samples, rules.lowestOf, (one, other) => isLowerRank(one, other, rules.lowestOf));
  return oneOfEach(samples, rules.largestOf, (one, other) => one.value > other.value);
}

/** Of the samples that differ in `labels` only, the best. */
function oneOfEach(
  samples: PromSample[],
  differing: readonly string[],
  isBetter: (one: PromSample, other: PromSample) => boolean,
): PromSample[] {
  if (!samples.some(({ labels }) => differing.some((label) => labels[label] !== undefined))) return samples;
  const best = new Map<string, PromSample>();
  for (const sample of samples) {
    const same = Object.entries(sample.labels).filter(([label]) => !differing.includes(label));
    const key = JSON.stringify(same);
    const known = best.get(key);
    if (known === undefined || isBetter(sample, known)) best.set(key, sample);
  }
  return [...best.values()];
}

function isLowerRank(one: PromSample, other: PromSample, ranks: readonly string[]): boolean {
  for (const rank of ranks) {
    const difference = Number(one.labels[rank] ?? 0) - Number(other.labels[rank] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function valuesOf(source: SeriesSource, metrics: PromText, rules: SeriesRules): readonly number[] | null {
  const samples = seriesOf(metrics, source.name, source, rules);
  return samples.length === 0 ? null : samples.map(({ value }) => value);
}

const readNumber: Read<SourceOf<"running">, number> = (source, metrics, rules) => {
  const values = valuesOf(source, metrics, rules);
  if (values === null) return null;
  const more = source.plus === undefined ? null : valuesOf(source.plus, metrics, rules);
  return sum(values) + sum(more ?? []);
};

const readShare: Read<SourceOf<"kvUse">, { readonly max: number; readonly mean: number }> = (source, metrics, rules) => {
  const values = valuesOf(source, metrics, rules);
  if (values === null) return null;
  if (source.of === undefined) return { max: Math.max(...values), mean: sum(values) / values.length };
  const whole = sum(valuesOf(source.of, metrics, rules) ?? []);
  return whole > 0 ? { max: sum(values) / whole, mean: sum(values) / whole } : null;
};

const readCapacity: Read<SourceOf<"kvCapacityTokens">, number> = (source, metrics, rules) => {
  const { labels: factors, times } = source;
  if (factors !== undefined) {
    const products = seriesOf(metrics, source.name, source, rules).map(({ labels }) =>
      factors.reduce((product, label) => product * Number.parseInt(labels[label] ?? "", 10), 1),
    );
    return products.length === 0 || !products.every(Number.isFinite) ? null : sum(products);
  }
  const values = valuesOf(source, metrics, rules);
  if (values === null || times === undefined) return values === null ? null : sum(values);
  const each = valuesOf(times, metrics, rules);
  return each === null ? null : sum(values) * Math.max(...each);
};

const readHistogram: Read<SourceOf<"ttftSeconds">, BucketCounts> = (source, metrics, rules) => {
  const counts = new Map<number, number>();
  for (const { labels, value } of seriesOf(metrics, `${source.name}_bucket`, source, rules)) {
    const bound = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
    if (!Number.isNaN(bound)) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  if (counts.size === 0) return null;
  if (!counts.has(Number.POSITIVE_INFINITY)) {
    // Where the open bucket is left out the count says the same; without it nobody knows how much was observed.
    const count = valuesOf({ ...source, name: `${source.name}_count` }, metrics, rules);
    if (count === null) return null;
    counts.set(Number.POSITIVE_INFINITY, sum(count));
  }
  const bounds = [...counts.keys()].sort((left, right) => left - right);
  const sums = valuesOf({ ...source, name: `${source.name}_sum` }, metrics, rules);
  return { bounds, cumulative: bounds.map((bound) => counts.get(bound) ?? 0), sum: sums === null ? null : sum(sums) };
};

const readState: Read<SourceOf<"sleepState">, string> = (source, metrics, rules) => {
  const states = seriesOf(metrics, source.name, source, rules)
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels[source.label] ?? "");
  // An engine one of whose ranks sleeps is not awake.
  return states.find((state) => state !== "awake") ?? states[0] ?? null;
};

/** Counts by outcome, from every source that is there. */
function readOutcomes(sources: NonNullable<NotionSources["finished"]>, metrics: PromText, rules: SeriesRules) {
  const outcomes = new Map<string, number>();
  for (const source of sources) {
    for (const { labels, value } of seriesOf(metrics, source.name, source, rules)) {
      const by = "by" in source ? source.by.find((label) => labels[label] !== undefined) : undefined;
      const outcome = "as" in source ? source.as : ((by === undefined ? undefined : labels[by]) ?? "unknown");
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + value);
    }
  }
  return outcomes.size === 0 ? null : Object.fromEntries(outcomes);
}

/** The series a source asks for, as one would ask Prometheus. */
function asked({ name, only }: SeriesSource): string {
  const labels = Object.entries(only ?? {}).map(([label, values]) => `${label}="${values.join("|")}"`);
  return labels.length === 0 ? name : `${name}{${labels.join(",")}}`;
}

const openBucket = (source: SeriesSource): SeriesSource => ({ ...source, name: `${source.name}_bucket`, only: { le: ["+Inf"] } });

/** What an exposition says of every notion, through its mapping. */
export function readNotions(metrics: PromText, { notions, series: rules }: EngineMapping) {
  const first = <Source extends SeriesSource, Value>(sources: readonly Source[] | null, read: Read<Source, Value>): Reading<Value> => {
    if (sources === null) return { state: "not-applicable" };
    for (const source of sources) {
      const value = read(source, metrics, rules);
      if (value !== null) return { state: "value", value };
    }
    return { state: "absent", lookedFor: sources.map(asked)[0] ?? "" };
  };
  const histogram = (sources: NotionSources["ttftSeconds"]): Reading<BucketCounts> => {
    const reading = first(sources, readHistogram);
    return reading.state === "absent" ? { ...reading, lookedFor: sources?.map(openBucket).map(asked)[0] ?? "" } : reading;
  };
  return {
    running: first(notions.running, readNumber),
    waiting: first(notions.waiting, readNumber),
    kvUse: first(notions.kvUse, readShare),
    kvCapacityTokens: first(notions.kvCapacityTokens, readCapacity),
    preemptions: first(notions.preemptions, readNumber),
    promptTokens: first(notions.promptTokens, readNumber),
    generationTokens: first(notions.generationTokens, readNumber),
    prefixQueries: first(notions.prefixQueries, readNumber),
    prefixHits: first(notions.prefixHits, readNumber),
    answered: first(notions.answered, readNumber),
    finished: first(notions.finished, () => readOutcomes(notions.finished ?? [], metrics, rules)),
    ttftSeconds: histogram(notions.ttftSeconds),
    tpotSeconds: histogram(notions.tpotSeconds),
    itlSeconds: histogram(notions.itlSeconds),
    endToEndSeconds: histogram(notions.endToEndSeconds),
    queueSeconds: histogram(notions.queueSeconds),
    sleepState: first(notions.sleepState, readState),
  };
}

/** What one exposition says of an engine, notion by notion. */
export type NotionReadings = ReturnType<typeof readNotions>;

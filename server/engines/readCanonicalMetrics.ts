import type { EngineMapping, MetricSources, SeriesRules, SeriesSource } from "./engineMapping";
import type { PromSample, PromText } from "./promText";

/** The value of one metric in one exposition. Absent is never zero. */
export type Reading<Value> =
  /** `series` identifies the series that counted: if it differs between two scrapes, their values cannot be subtracted. */
  | { readonly state: "value"; readonly value: Value; readonly series: number }
  | { readonly state: "absent"; readonly lookedFor: string }
  /** Engines of this type and version have no such metric. */
  | { readonly state: "not-applicable" };

/** Cumulative counts by upper bound, of all ranks; the last bound is +Inf. */
export interface BucketCounts {
  readonly bounds: readonly number[];
  readonly cumulative: readonly number[];
  /** Sum of all observations; null if the engine does not export it. */
  readonly sum: number | null;
}

type SourceOf<Name extends keyof MetricSources> = NonNullable<MetricSources[Name]>[number];
type Made<Value> = { readonly value: Value; readonly series: number };
type Read<Source, Value> = (source: Source, metrics: PromText, rules: SeriesRules) => Made<Value> | null;

/** The counting samples of `name`. */
function seriesOf(metrics: PromText, name: string, { only, except }: SeriesSource, rules: SeriesRules): readonly PromSample[] {
  let samples = (metrics.byName.get(name) ?? []).filter(({ value }) => Number.isFinite(value));
  for (const [label, values] of Object.entries(only ?? {})) {
    samples = samples.filter(({ labels }) => labels[label] === undefined || values.includes(labels[label]));
  }
  for (const [label, values] of Object.entries(except ?? {})) {
    samples = samples.filter(({ labels }) => labels[label] === undefined || !values.includes(labels[label]));
  }
  if (samples.length < 2) return samples;
  // A series that is written twice counts once, as in Prometheus.
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

const sum = (samples: readonly PromSample[]): number => samples.reduce((total, { value }) => total + value, 0);
const largest = (samples: readonly PromSample[]): number => Math.max(...samples.map(({ value }) => value));

/** Identifies sets of series by their labels (FNV-1a), in any order. */
function identity(samples: readonly PromSample[]): number {
  let total = 0;
  for (const { block } of samples) total = (total + block.hash) % 2 ** 32;
  return total;
}

/** The samples of a source; null if its metric does not exist. */
function samplesOf(source: SeriesSource, metrics: PromText, rules: SeriesRules): readonly PromSample[] | null {
  const samples = seriesOf(metrics, source.name, source, rules);
  if (samples.length > 0) return samples;
  // If all existing series are excluded, the value is known to be nothing.
  const { except, ...all } = source;
  return except !== undefined && seriesOf(metrics, source.name, all, rules).length > 0 ? [] : null;
}

const readNumber: Read<SourceOf<"running">, number> = (source, metrics, rules) => {
  const samples = samplesOf(source, metrics, rules);
  if (samples === null) return null;
  const all = [...samples, ...((source.plus === undefined ? null : samplesOf(source.plus, metrics, rules)) ?? [])];
  return { value: sum(all), series: identity(all) };
};

const readShare: Read<SourceOf<"kvUse">, { readonly max: number; readonly mean: number }> = (source, metrics, rules) => {
  const samples = seriesOf(metrics, source.name, source, rules);
  if (samples.length === 0) return null;
  const series = identity(samples);
  if (source.of === undefined) return { value: { max: largest(samples), mean: sum(samples) / samples.length }, series };
  const whole = sum(samplesOf(source.of, metrics, rules) ?? []);
  return whole > 0 ? { value: { max: sum(samples) / whole, mean: sum(samples) / whole }, series } : null;
};

const readCapacity: Read<SourceOf<"kvCapacityTokens">, number> = (source, metrics, rules) => {
  const { labels: factors, times } = source;
  const samples = seriesOf(metrics, source.name, source, rules);
  if (samples.length === 0) return null;
  const series = identity(samples);
  if (factors !== undefined) {
    const products = samples.map(({ labels }) => factors.reduce((product, label) => product * Number.parseInt(labels[label] ?? "", 10), 1));
    return products.every(Number.isFinite) ? { value: products.reduce((total, product) => total + product, 0), series } : null;
  }
  if (times === undefined) return { value: sum(samples), series };
  const each = seriesOf(metrics, times.name, times, rules);
  return each.length === 0 ? null : { value: sum(samples) * largest(each), series };
};

const readHistogram: Read<SourceOf<"ttftSeconds">, BucketCounts> = (source, metrics, rules) => {
  const buckets = new Map<number, PromSample[]>();
  for (const sample of seriesOf(metrics, `${source.name}_bucket`, source, rules)) {
    const bound = sample.labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(sample.labels.le);
    if (Number.isNaN(bound)) continue;
    const known = buckets.get(bound);
    if (known === undefined) buckets.set(bound, [sample]);
    else known.push(sample);
  }
  if (buckets.size === 0) return null;
  // If the open bucket is missing, the count has the same value; without it the number of observations is unknown.
  const whole = buckets.get(Number.POSITIVE_INFINITY) ?? seriesOf(metrics, `${source.name}_count`, source, rules);
  buckets.set(Number.POSITIVE_INFINITY, [...whole]);
  // A rank lacks a bucket that others have: its count there is unknown, and a sum without it would be wrong.
  if (whole.length === 0 || [...buckets.values()].some(({ length }) => length !== whole.length)) return null;
  const bounds = [...buckets.keys()].sort((left, right) => left - right);
  const sums = seriesOf(metrics, `${source.name}_sum`, source, rules);
  const counts = { bounds, cumulative: bounds.map((bound) => sum(buckets.get(bound) ?? [])) };
  return { value: { ...counts, sum: sums.length === whole.length ? sum(sums) : null }, series: identity([...whole, ...sums]) };
};

const readState: Read<SourceOf<"sleepState">, string> = (source, metrics, rules) => {
  const samples = seriesOf(metrics, source.name, source, rules);
  const states = samples.filter(({ value }) => value === 1).map(({ labels }) => labels[source.label] ?? "");
  // An engine with a sleeping rank is not awake.
  const state = states.find((each) => each !== "awake") ?? states[0];
  return state === undefined ? null : { value: state, series: identity(samples) };
};

/** The series of a source in Prometheus' query form. */
function asked({ name, only }: SeriesSource): string {
  const labels = Object.entries(only ?? {}).map(([label, values]) => `${label}="${values.join("|")}"`);
  return labels.length === 0 ? name : `${name}{${labels.join(",")}}`;
}

const openBucket = (source: SeriesSource): SeriesSource => ({ ...source, name: `${source.name}_bucket`, only: { le: ["+Inf"] } });

/** The values of all metrics in an exposition, by its mapping. */
export function readCanonicalMetrics(metrics: PromText, { canonicalMetrics, series: rules }: EngineMapping) {
  const first = <Source extends SeriesSource, Value>(sources: readonly Source[] | null, read: Read<Source, Value>): Reading<Value> => {
    if (sources === null) return { state: "not-applicable" };
    for (const source of sources) {
      const made = read(source, metrics, rules);
      if (made !== null) return { state: "value", ...made };
    }
    return { state: "absent", lookedFor: sources.map(asked)[0] ?? "" };
  };
  const histogram = (sources: MetricSources["ttftSeconds"]): Reading<BucketCounts> => {
    const reading = first(sources, readHistogram);
    return reading.state === "absent" ? { ...reading, lookedFor: sources?.map(openBucket).map(asked)[0] ?? "" } : reading;
  };
  return {
    running: first(canonicalMetrics.running, readNumber),
    waiting: first(canonicalMetrics.waiting, readNumber),
    kvUse: first(canonicalMetrics.kvUse, readShare),
    kvCapacityTokens: first(canonicalMetrics.kvCapacityTokens, readCapacity),
    preemptions: first(canonicalMetrics.preemptions, readNumber),
    promptTokens: first(canonicalMetrics.promptTokens, readNumber),
    generationTokens: first(canonicalMetrics.generationTokens, readNumber),
    prefixQueries: first(canonicalMetrics.prefixQueries, readNumber),
    prefixHits: first(canonicalMetrics.prefixHits, readNumber),
    answered: first(canonicalMetrics.answered, readNumber),
    ttftSeconds: histogram(canonicalMetrics.ttftSeconds),
    tpotSeconds: histogram(canonicalMetrics.tpotSeconds),
    itlSeconds: histogram(canonicalMetrics.itlSeconds),
    endToEndSeconds: histogram(canonicalMetrics.endToEndSeconds),
    queueSeconds: histogram(canonicalMetrics.queueSeconds),
    sleepState: first(canonicalMetrics.sleepState, readState),
  };
}

/** The values of one exposition of an engine, metric by metric. */
export type MetricReadings = ReturnType<typeof readCanonicalMetrics>;

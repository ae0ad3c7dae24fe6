import type { CanonicalMetric, EngineMapping, SeriesSource as MetricSource, SeriesRules } from "@/server/engines/engineMapping";
import type { PromQuery } from "./promQueries";
import type { EngineQuantity } from "./quantities";

/** Reads a selector, or a rate of it. */
type Read = (selector: string) => string;
const asItIs: Read = (selector) => selector;
const rateOver =
  (window: string): Read =>
  (selector) =>
    `rate(${selector}[${window}])`;

/** The first of some expressions that has a value, engine by engine. */
const firstOf = (expressions: readonly string[]): string => [...new Set(expressions)].map((one) => `(${one})`).join(" or ");

/** Label values as a regular expression inside a PromQL string. */
const oneOf = (values: readonly string[]): string =>
  JSON.stringify(values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"));

/** The series of a metric that count, by the rules that the studio itself reads by. A label that a series lacks reads as empty. */
function seriesOf(
  { name, only = {}, except = {} }: MetricSource,
  rules: SeriesRules,
  { match, read }: { match: string; read: Read },
): string {
  const matchers = [
    `__name__=${JSON.stringify(name)}`,
    match,
    ...Object.entries(only).map(([label, values]) => `${label}=~${oneOf([...values, ""])}`),
    ...Object.entries(except).map(([label, values]) => `${label}!~${oneOf(values)}`),
  ];
  const select = (more: readonly string[]) => read(`{${[...matchers, ...more].join(",")}}`);
  // The aggregate if it exists, otherwise its parts.
  const marks = Object.entries(rules.aggregate);
  const labels = marks.map(([label]) => label).join(", ");
  const whole = select(marks.map(([label, value]) => `${label}=~${oneOf([value, ""])}`));
  const counted = marks.length === 0 ? select([]) : `(${whole} or ignoring (${labels}) ${select([])})`;
  // Ranks repeat one value, and of processes all but one say 0: of either the largest is the value.
  const repeated = [...rules.lowestOf, ...rules.largestOf];
  return repeated.length === 0 ? counted : `max without (${repeated.join(", ")}) (${counted})`;
}

/** PromQL of engines' metrics, for any engine that one of the mappings reads. */
export function engineQueries(mappings: readonly EngineMapping[]): Partial<Record<EngineQuantity, PromQuery>> {
  const over = (expression: (mapping: EngineMapping) => readonly string[]): string => firstOf(mappings.flatMap(expression));

  const sums = (metric: CanonicalMetric, mapping: EngineMapping, how: { match: string; read: Read }): readonly string[] =>
    ((mapping.canonicalMetrics[metric] ?? []) as readonly (MetricSource & { plus?: MetricSource })[]).map((source) => {
      const sum = (of: MetricSource) => `sum by (instance) (${seriesOf(of, mapping.series, how)})`;
      return source.plus === undefined ? sum(source) : `${sum(source)} + (${sum(source.plus)} or ${sum(source)} * 0)`;
    });

  const level =
    (metric: CanonicalMetric): PromQuery =>
    (match) =>
      over((mapping) => sums(metric, mapping, { match, read: asItIs }));

  const rate =
    (metric: CanonicalMetric): PromQuery =>
    (match, window) =>
      over((mapping) => sums(metric, mapping, { match, read: rateOver(window) }));

  const quantile =
    (metric: CanonicalMetric, q: number): PromQuery =>
    (match, window) =>
      over((mapping) =>
        ((mapping.canonicalMetrics[metric] ?? []) as readonly MetricSource[]).map((source) => {
          const buckets = seriesOf({ ...source, name: `${source.name}_bucket` }, mapping.series, { match, read: rateOver(window) });
          return `histogram_quantile(${q}, sum by (instance, le) (${buckets}))`;
        }),
      );

  const quantiles = <Name extends "ttft" | "tpot" | "itl" | "endToEnd" | "queue">(name: Name) =>
    Object.fromEntries([50, 95, 99].map((percent) => [`${name}P${percent}Seconds`, quantile(`${name}Seconds`, percent / 100)])) as Readonly<
      Record<`${Name}P${50 | 95 | 99}Seconds`, PromQuery>
    >;

  const mean =
    (metric: CanonicalMetric): PromQuery =>
    (match, window) =>
      over((mapping) =>
        ((mapping.canonicalMetrics[metric] ?? []) as readonly MetricSource[]).map((source) => {
          const part = (name: string) =>
            `sum by (instance) (${seriesOf({ ...source, name: `${source.name}_${name}` }, mapping.series, { match, read: rateOver(window) })})`;
          return `${part("sum")} / (${part("count")} > 0)`;
        }),
      );

  const kvUse =
    (ofRanks: "max" | "avg"): PromQuery =>
    (match) =>
      over(({ canonicalMetrics, series }) =>
        (canonicalMetrics.kvUse ?? []).map((source) => {
          const part = (how: "max" | "avg" | "sum", of: MetricSource) =>
            `${how} by (instance) (${seriesOf(of, series, { match, read: asItIs })})`;
          return source.of === undefined ? part(ofRanks, source) : `${part("sum", source)} / ${part("sum", source.of)}`;
        }),
      );

  const kvCapacity: PromQuery = (match) =>
    over(({ canonicalMetrics, series }) =>
      (canonicalMetrics.kvCapacityTokens ?? [])
        // PromQL makes no number of a label.
        .filter(({ labels }) => labels === undefined)
        .map((source) => {
          const part = (how: "max" | "sum", of: MetricSource) => `${how} by (instance) (${seriesOf(of, series, { match, read: asItIs })})`;
          return source.times === undefined ? part("sum", source) : `${part("sum", source)} * ${part("max", source.times)}`;
        }),
    );

  const prefixHitShare: PromQuery = (match, window) =>
    over((mapping) => {
      const read = { match, read: rateOver(window) };
      const [hits, queries] = [sums("prefixHits", mapping, read), sums("prefixQueries", mapping, read)];
      return hits.length === 0 || queries.length === 0 ? [] : [`(${firstOf(hits)}) / (${firstOf(queries)})`];
    });

  return {
    running: level("running"),
    waiting: level("waiting"),
    kvUse: kvUse("max"),
    kvUseMean: kvUse("avg"),
    kvCapacityTokens: kvCapacity,
    prefixHitShare,
    preemptionsPerSecond: rate("preemptions"),
    requestsPerSecond: rate("answered"),
    promptTokensPerSecond: rate("promptTokens"),
    generationTokensPerSecond: rate("generationTokens"),
    ttftMeanSeconds: mean("ttftSeconds"),
    tpotMeanSeconds: mean("tpotSeconds"),
    endToEndMeanSeconds: mean("endToEndSeconds"),
    ...quantiles("ttft"),
    ...quantiles("tpot"),
    ...quantiles("itl"),
    ...quantiles("endToEnd"),
    ...quantiles("queue"),
  };
}

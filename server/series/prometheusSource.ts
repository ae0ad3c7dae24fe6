import type { SeriesColumns, SeriesKey, SeriesRange } from "@/server/contracts/studio/seriesRange";
import type { EngineMapping } from "@/server/engines/engineMapping";
import { type Buckets, bucketsOf, bucketWidth } from "./bucketWidth";
import { engineQueries } from "./engineQueries";
import { type PromAnswer, type PrometheusClientOptions, queryMatrix } from "./prometheusClient";
import { type PromQuery, promQueries, subjectLabels } from "./promQueries";
import { kindOf, type SubjectKind } from "./quantities";
import type { RangeRequest, SeriesSource } from "./seriesSource";

/** What there is to ask of. */
interface PrometheusTargets {
  readonly engines: readonly { readonly id: string; readonly url: string }[];
  readonly gpus: readonly { readonly node: string; readonly index: number }[];
  /** Models that the gateway serves. */
  readonly models: readonly string[];
  readonly gatewayAdminUrl: string;
}

export interface PrometheusOptions extends PrometheusClientOptions {
  /** How often it scrapes, in seconds. */
  readonly scrapeSeconds: number;
  /** Engine seconds in a wall second. */
  readonly timeScale: () => number;
  readonly targets: () => PrometheusTargets;
  /** How engines' metrics are read. */
  readonly mappings: readonly EngineMapping[];
}

/** Values of a bucket that Prometheus computes from its samples; each is a function over the samples of a time. */
const STATISTICS = ["min", "max", "avg", "last", "count"] as const;
type Statistic = (typeof STATISTICS)[number];

/** Tells the statistics of one answer apart. */
const LABEL = "weir_statistic";

/** Evaluations within a bucket at most: beyond it a bucket is sampled rather than read whole. */
const EVALUATIONS = 60;

/** Rates cover this number of scrapes: one may be lost, one may be late. They cover at least as much as the studio's own. */
const RATE_SCRAPES = 4;
const RATE_SECONDS = 15;

/** Most concurrent queries. */
const AT_ONCE = 4;

/** Minimum interval of queries that follow the present: a screen of charts is some dozen queries. */
const ASKED_EVERY_MS = 5_000;

/** Reads from a Prometheus server that scrapes engines, GPUs and the gateway, instead of from the studio's own store. */
export function createPrometheusSource(options: PrometheusOptions): SeriesSource {
  const { scrapeSeconds, timeScale, targets } = options;
  const queries: Readonly<Record<SubjectKind, Partial<Record<string, PromQuery>>>> = {
    ...promQueries,
    engine: engineQueries(options.mappings),
  };
  const window = `${Math.max(RATE_SECONDS, RATE_SCRAPES * scrapeSeconds)}s`;

  async function ask(query: string, { fromMs, bucketMs, count }: Buckets): Promise<PromAnswer> {
    const [startSeconds, widthSeconds] = [fromMs / 1000, bucketMs / 1000];
    // A bucket covers the time before its end.
    const times = {
      startSeconds: startSeconds + widthSeconds,
      endSeconds: startSeconds + count * widthSeconds,
      stepSeconds: widthSeconds,
    };
    const every = Math.max(scrapeSeconds, Math.ceil(widthSeconds / EVALUATIONS));
    // The comparison drops NaN, which one quiet scrape would otherwise spread over the bucket.
    const known = `((${query}) >= 0)`;
    const over = (statistic: Statistic) =>
      `label_replace(${statistic}_over_time(${known}[${widthSeconds}s:${every}s]), "${LABEL}", "${statistic}", "", "")`;
    return queryMatrix(options, { query: widthSeconds <= scrapeSeconds ? known : STATISTICS.map(over).join(" or "), ...times });
  }

  /** Reads one quantity of all requested subjects of a kind. */
  async function read(
    group: Group,
    grid: Buckets,
  ): Promise<{ readonly columns: Map<string, Cells>; readonly problems: readonly string[] }> {
    const columns = new Map<string, Cells>();
    const query = queries[group.kind][group.quantity];
    if (query === undefined) return { columns, problems: [`${group.quantity} of the ${group.kind} cannot be asked of a Prometheus.`] };
    const scale = group.quantity.endsWith("PerSecond") ? timeScale() : 1;
    const answer = await ask(query(matchersOf(group, targets()), window), grid);
    if (!answer.ok) return { columns, problems: [answer.reason] };
    for (const { labels, points } of answer.series) {
      const name = nameOf(group.kind, labels);
      const cells = columns.get(name) ?? emptyCells(grid.count);
      columns.set(name, cells);
      const statistic = labels[LABEL] as Statistic | undefined;
      for (const [seconds, value] of points) {
        const at = Math.round((1000 * seconds - grid.fromMs) / grid.bucketMs) - 1;
        for (const one of statistic === undefined ? STATISTICS : [statistic]) {
          cells[one][at] = one === "count" ? (statistic === undefined ? 1 : value) : value / scale;
        }
      }
    }
    return { columns, problems: answer.warnings.map((warning) => `Prometheus at ${options.url} warns: ${warning}.`) };
  }

  return {
    everyMs: Math.max(ASKED_EVERY_MS, 1000 * scrapeSeconds),
    async subjects() {
      const { engines, gpus, models } = targets();
      return [
        ...engines.map(({ id }) => `engine:${id}`),
        ...gpus.map(({ node, index }) => `gpu:${node}/${index}`),
        ...models.map((model) => `stage:${model}`),
        "gateway",
      ].sort();
    },
    async range(request): Promise<SeriesRange> {
      const grid = gridOf(request, scrapeSeconds);
      const groups = grid.count === 0 ? [] : groupsOf(request.series);
      const answers = new Map<string, Awaited<ReturnType<typeof read>>>();
      const waiting = [...groups];
      const work = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) answers.set(next[0], await read(next[1], grid));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      const names = namesOf(targets());
      return {
        bucketMs: grid.bucketMs,
        atMs: Array.from({ length: grid.count }, (_, at) => grid.fromMs + at * grid.bucketMs),
        series: request.series.map((key) => {
          const found = answers.get(groupName(key))?.columns.get(names.get(key.subject) ?? "");
          return columnsOf(key, found ?? emptyCells(grid.count));
        }),
        problems: [...new Set([...answers.values()].flatMap(({ problems }) => problems))],
      };
    },
  };
}

/**
 * Buckets no narrower than a scrape interval, within which Prometheus has no new data, and of those only the past ones: for a future time
 * it returns the last value again.
 */
function gridOf({ fromMs, toMs, bucketMs }: RangeRequest, scrapeSeconds: number): Buckets {
  const width = bucketWidth(bucketMs, 1, 1000 * scrapeSeconds);
  return bucketsOf({ fromMs, toMs: Math.floor(toMs / width) * width, bucketMs: width });
}

/** One quantity of several subjects of a kind: one query. */
interface Group {
  readonly kind: SubjectKind;
  readonly quantity: string;
  readonly subjects: readonly string[];
}

const groupName = ({ subject, quantity }: SeriesKey): string => `${kindOf(subject)} ${quantity}`;

function groupsOf(series: readonly SeriesKey[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const key of series) {
    const kind = kindOf(key.subject);
    if (kind === null) continue;
    const known = groups.get(groupName(key))?.subjects ?? [];
    groups.set(groupName(key), { kind, quantity: key.quantity, subjects: [...known, key.subject] });
  }
  return groups;
}

type Cells = Record<Statistic, (number | null)[]>;

function emptyCells(buckets: number): Cells {
  const empty = () => Array<number | null>(buckets).fill(null);
  return { min: empty(), max: empty(), avg: empty(), last: empty(), count: empty() };
}

const columnsOf = (key: SeriesKey, { min, max, avg, last, count }: Cells): SeriesColumns => ({
  ...key,
  min,
  max,
  mean: avg,
  last,
  count: count.map((one) => one ?? 0),
});

/** What Prometheus calls each subject: the values of its kind's labels. */
function namesOf({ engines, gpus, models }: PrometheusTargets): Map<string, string> {
  return new Map([
    ...engines.map(({ id, url }) => [`engine:${id}`, `engine ${new URL(url).host}`] as const),
    ...gpus.map(({ node, index }) => [`gpu:${node}/${index}`, `gpu ${node} ${index}`] as const),
    ...models.map((model) => [`stage:${model}`, `stage ${model}`] as const),
    ["gateway", "gateway"] as const,
  ]);
}

const nameOf = (kind: SubjectKind, labels: Readonly<Record<string, string>>): string =>
  [kind, ...subjectLabels[kind].map((label) => labels[label] ?? "")].join(" ");

function matchersOf({ kind, subjects }: Group, targets: PrometheusTargets): string {
  const gateway = `instance=${JSON.stringify(new URL(targets.gatewayAdminUrl).host)}`;
  const among = (label: string, values: readonly string[]) => `${label}=~${JSON.stringify([...new Set(values)].map(literal).join("|"))}`;
  const rest = (subject: string) => subject.slice(kind.length + 1);
  if (kind === "gateway") return gateway;
  if (kind === "stage") return `${gateway},${among("model", subjects.map(rest))}`;
  if (kind === "gpu")
    return among(
      "Hostname",
      subjects.map((subject) => rest(subject).replace(/\/\d+$/, "")),
    );
  const asked = targets.engines.filter(({ id }) => subjects.includes(`engine:${id}`));
  return among(
    "instance",
    asked.map(({ url }) => new URL(url).host),
  );
}

/** A value as a regular expression of itself. */
const literal = (value: string): string => value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

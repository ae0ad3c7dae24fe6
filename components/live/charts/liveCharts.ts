import type { Outputs } from "@/components/api/trpc";
import type { ChartSeries, ChartSpec, PredictedBand } from "@/components/charts/chartSpec";
import { formatAge, formatCount, formatRate, formatScore, formatSeconds, formatShare, formatUsd } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { EngineReadingName, SeriesKey } from "@/server/contracts/studio";
import type { Predictions } from "@/solver/plan/plan";
import type { DerivedSeries } from "./deriveSeries";

type Quantities = Outputs["live"]["quantities"];
type QuantityOf<Kind extends keyof Quantities> = keyof Quantities[Kind] & string;

/** What a plan's predictions say of a value that a chart draws; both ends alike where they have no span. */
export type Promised = Omit<PredictedBand, "fromMs" | "toMs">;

/** A chart of the Live page: what is drawn, and what is to be said about it. */
export interface LiveChartSpec extends ChartSpec {
  /** What percentiles and means are of, beside the title. */
  readonly note?: string;
  /** Series that are made here of those asked for. */
  readonly derived?: readonly DerivedSeries[];
  /** Of the requests of the gateway's last seconds, as many as the frames say. */
  readonly recent?: true;
  readonly promised?: (predictions: Predictions) => readonly Promised[];
  /** Said where nothing is there to draw; of engines' own metrics their word on it goes before. */
  readonly empty: string;
  readonly reads?: readonly EngineReadingName[];
}

/** What rates and percentiles of engines look back over, by the wall's clock. */
export const ENGINE_WINDOW = "last 15 s";

/** The chart with the time beside its title that its requests are of. @param seconds engine seconds; 0: not known yet. */
export function statingWindow(chart: LiveChartSpec, seconds: number): LiveChartSpec {
  if (chart.recent === undefined || seconds === 0) return chart;
  const over = `last ${formatAge(seconds)}`;
  return { ...chart, note: chart.note === undefined ? over : `${chart.note}, ${over}` };
}

export type Identities = ReadonlyMap<string, ModelIdentity>;

const NEUTRAL = "var(--ink-2)";
export const hueOf = (identities: Identities, model: string | null): string =>
  (model === null ? undefined : identities.get(model)?.hue) ?? NEUTRAL;

export const engineKey = (id: string, quantity: QuantityOf<"engine">): SeriesKey => ({ subject: `engine:${id}`, quantity });
export const gpuKey = (subject: string, quantity: QuantityOf<"gpu">): SeriesKey => ({ subject, quantity });
export const stageKey = (model: string, quantity: QuantityOf<"stage">): SeriesKey => ({ subject: `stage:${model}`, quantity });
export const gatewayKey = (quantity: QuantityOf<"gateway">): SeriesKey => ({ subject: "gateway", quantity });

/** Units of axes and how values read, by what is drawn. Spikes are the message of queues, tails and refusals: the highest is drawn. */
export const drawnAs = {
  rate: { unit: "/s", format: formatRate, draws: "mean" },
  spikes: { unit: "/s", format: formatRate, draws: "max" },
  count: { unit: "", format: formatCount, draws: "max" },
  seconds: { unit: " s", format: formatSeconds, draws: "max" },
  tokens: { unit: "/s", format: (perSecond: number) => `${formatCount(perSecond)} tokens/s`, draws: "mean" },
  share: { unit: " %", perUnit: 0.01, format: formatShare, draws: "mean", atLeast: 1 },
  score: { unit: "", format: formatScore, draws: "mean", atLeast: 100 },
  usd: { unit: " $", format: (usd: number) => `${formatUsd(usd)}/h`, draws: "mean" },
} as const satisfies Readonly<Record<string, Pick<ChartSpec, "unit" | "perUnit" | "format" | "draws" | "atLeast">>>;

/** Three percentiles of one thing, told apart without colour. */
export function percentiles(keyOf: (percent: 50 | 95 | 99) => SeriesKey): readonly ChartSeries[] {
  return [
    { key: keyOf(50), name: "p50", hue: "var(--ink-3)", dashed: false },
    { key: keyOf(95), name: "p95", hue: "var(--ink)", dashed: false },
    { key: keyOf(99), name: "p99", hue: "var(--ink-3)", dashed: true },
  ];
}

/** A promise without a span of its own: a line, in the hue of what it is for. */
export const promisedLine = (value: number, hue?: string): Promised => ({
  low: value,
  high: value,
  value,
  ...(hue === undefined ? {} : { hue }),
});

/** Share of a stage's requests that go on to the next: what reaches that, but for what starts there. */
export const escalatedOf = (share: number, next: { readonly share: number; readonly startShare?: number | undefined }): number =>
  Math.min(1, (next.share - (next.startShare ?? 0)) / share);

const SHADES = ["", "var(--ink) 45%", "var(--panel) 45%"] as const;

/** The hue of one of several things that share one: a shade of it, and beyond three shades dashed. */
export function shadeOf(hue: string, at: number): Pick<ChartSeries, "hue" | "dashed"> {
  const shade = SHADES[at % SHADES.length] ?? "";
  return { hue: shade === "" ? hue : `color-mix(in oklab, ${hue}, ${shade})`, dashed: Math.floor(at / SHADES.length) % 2 === 1 };
}

export const keyText = ({ subject, quantity }: SeriesKey): string => `${subject} ${quantity}`;

/** An address that is longer may be refused on the way. */
const LONGEST_ADDRESS = 12_000;
/** The stream takes no more. */
const MOST_SERIES = 150;

/** Charts that one stream can carry, with the series to ask for, each once; the rest by title. */
export function fitCharts(charts: readonly LiveChartSpec[]): {
  readonly carried: readonly LiveChartSpec[];
  readonly left: readonly string[];
  readonly series: readonly SeriesKey[];
} {
  const asked = new Map<string, SeriesKey>();
  const carried: LiveChartSpec[] = [];
  const left: string[] = [];
  let length = 0;
  for (const chart of charts) {
    const made = new Map((chart.derived ?? []).map((derived) => [keyText(derived.key), derived.of]));
    const wanted = chart.series.flatMap(({ key }) => made.get(keyText(key)) ?? [key]);
    const more = new Map(wanted.filter((key) => !asked.has(keyText(key))).map((key) => [keyText(key), key]));
    const longer = encodeURIComponent(JSON.stringify([...more.values()])).length;
    if (asked.size + more.size > MOST_SERIES || length + longer > LONGEST_ADDRESS) {
      left.push(chart.title);
      continue;
    }
    for (const [text, key] of more) asked.set(text, key);
    length += longer;
    carried.push(chart);
  }
  return { carried, left, series: [...asked.values()] };
}

import type { Outputs } from "@/components/api/trpc";
import type { ChartSeries, ChartSpec, PredictedBand } from "@/components/charts/chartSpec";
import { formatAge, formatCount, formatRate, formatScore, formatSeconds, formatShare, formatUsd } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { EngineReadingName, SeriesKey } from "@/server/contracts/studio";
import type { Predictions } from "@/solver/plan/plan";
import type { DerivedSeries } from "./deriveSeries";

type Quantities = Outputs["live"]["quantities"];
type QuantityOf<Kind extends keyof Quantities> = keyof Quantities[Kind] & string;

/** A plan's prediction of a chart's value; both ends are equal where there is no interval. */
export type Promised = Omit<PredictedBand, "fromMs" | "toMs">;

/** A chart of the Live page: its content and its texts. */
export interface LiveChartSpec extends ChartSpec {
  /** The basis of percentiles and means, next to the title. */
  readonly note?: string;
  /** Series that are derived here from the requested ones. */
  readonly derived?: readonly DerivedSeries[];
  /** Of the gateway's requests in a window whose length the frames state. */
  readonly recent?: true;
  readonly promised?: (predictions: Predictions) => readonly Promised[];
  /** Text where there is nothing to draw; for engines' own metrics, a missing metric takes precedence. */
  readonly empty: string;
  readonly reads?: readonly EngineReadingName[];
}

/** Window of rates and percentiles of engines, in wall time. */
export const ENGINE_WINDOW = "last 15 s";

/** The chart with its window next to the title. @param seconds engine seconds; 0: not known yet. */
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

/** Units of axes and number formats, by quantity. For queues, tails and refusals spikes matter: the maximum is drawn. */
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

/** Three percentiles of one quantity, distinguished without colour. */
export function percentiles(keyOf: (percent: 50 | 95 | 99) => SeriesKey): readonly ChartSeries[] {
  return [
    { key: keyOf(50), name: "p50", hue: "var(--ink-3)", dashed: false },
    { key: keyOf(95), name: "p95", hue: "var(--ink)", dashed: false },
    { key: keyOf(99), name: "p99", hue: "var(--ink-3)", dashed: true },
  ];
}

/** A promise without an interval: a line, in the hue of its subject. */
export const promisedLine = (value: number, hue?: string): Promised => ({
  low: value,
  high: value,
  value,
  ...(hue === undefined ? {} : { hue }),
});

/** Share of a stage's requests that are escalated to the next: those that reach that one, without those that start there. */
export const escalatedOf = (share: number, next: { readonly share: number; readonly startShare?: number | undefined }): number =>
  Math.min(1, (next.share - (next.startShare ?? 0)) / share);

const SHADES = ["", "var(--ink) 45%", "var(--panel) 45%"] as const;

/** The hue of one of several things that share one: a shade of it, dashed beyond three shades. */
export function shadeOf(hue: string, at: number): Pick<ChartSeries, "hue" | "dashed"> {
  const shade = SHADES[at % SHADES.length] ?? "";
  return { hue: shade === "" ? hue : `color-mix(in oklab, ${hue}, ${shade})`, dashed: Math.floor(at / SHADES.length) % 2 === 1 };
}

export const keyText = ({ subject, quantity }: SeriesKey): string => `${subject} ${quantity}`;

/** A longer address may be refused by a proxy. */
const LONGEST_ADDRESS = 12_000;
/** Limit of the stream. */
const MOST_SERIES = 150;

/** Charts that one stream can carry, with the series to request, each once; the rest by title. */
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

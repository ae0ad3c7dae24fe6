import type { LabCell, LabRun } from "@/server/contracts/studio";
import { type LabMetric, overSeeds, paired, type SeedEstimate } from "@/solver/lab/overSeeds";
import { ABSENT, formatCount, formatDelta, formatFinePercent, formatRate, formatScore, formatSeconds, formatUsd } from "../ui/format";
import type { SystemMark } from "./prepareSystems";

interface Measure {
  readonly metric: LabMetric;
  readonly name: string;
  readonly best: "least" | "most";
  readonly format: (value: number) => string;
  /** The unit and number of digits in which `format` writes a value: its interval is written in the same. */
  readonly unit: (value: number) => Unit;
}

interface Unit {
  readonly factor: number;
  readonly digits: number;
}

const fixedUnit = (factor: number, digits: number) => (): Unit => ({ factor, digits });

function secondsUnit(seconds: number): Unit {
  if (seconds < 1) return { factor: 1000, digits: 0 };
  return { factor: 1, digits: seconds < 10 ? 2 : seconds < 100 ? 1 : 0 };
}

const PROGRAMS_PRICED = 1000;
const priced = (usd: number): string => formatUsd(PROGRAMS_PRICED * usd);

const digitsAfterPoint = (text: string): number => /\.(\d+)/.exec(text)?.[1]?.length ?? 0;

/** Latencies per token are between a few and some hundred milliseconds. */
const perToken = (seconds: number): string => `${(seconds * 1000).toFixed(1)}\u00a0ms`;

/** The figures of each system, in the order of the columns. */
export const measures = [
  { metric: "quality", name: "Quality", best: "most", format: formatScore, unit: fixedUnit(1, 1) },
  { metric: "meanSeconds", name: "Mean latency", best: "least", format: formatSeconds, unit: secondsUnit },
  { metric: "p95Seconds", name: "p95", best: "least", format: formatSeconds, unit: secondsUnit },
  { metric: "meanSecondsPerToken", name: "Per token", best: "least", format: perToken, unit: fixedUnit(1000, 1) },
  { metric: "p95SecondsPerToken", name: "Per token, p95", best: "least", format: perToken, unit: fixedUnit(1000, 1) },
  { metric: "p99SecondsPerToken", name: "Per token, p99", best: "least", format: perToken, unit: fixedUnit(1000, 1) },
  { metric: "meanQueueSeconds", name: "Queue time", best: "least", format: formatSeconds, unit: secondsUnit },
  { metric: "queueShare", name: "Queueing", best: "least", format: formatFinePercent, unit: fixedUnit(100, 1) },
  { metric: "longestWaitSeconds", name: "Worst wait", best: "least", format: formatSeconds, unit: secondsUnit },
  {
    ...{ metric: "programsPerSecond", name: "Throughput", best: "most", format: formatRate },
    unit: (rate) => ({ factor: 1, digits: digitsAfterPoint(formatRate(rate)) }),
  },
  {
    ...{ metric: "usdPerProgram", name: "$ per 1,000", best: "least", format: priced },
    unit: (usd) => ({ factor: PROGRAMS_PRICED, digits: digitsAfterPoint(priced(usd)) }),
  },
  { metric: "preemptedShare", name: "Preempted", best: "least", format: formatFinePercent, unit: fixedUnit(100, 1) },
  { metric: "preemptions", name: "Preemptions", best: "least", format: formatCount, unit: fixedUnit(1, 0) },
] as const satisfies readonly Measure[];

export const sortKeys = ["system", ...measures.map(({ metric }) => metric)] as const;
export type SortKey = (typeof sortKeys)[number];

interface TableCell {
  readonly metric: LabMetric;
  readonly value: string;
  /**
   * The 90 % interval over seeds in the value's unit, its half width where it is not cut at zero; null with one seed, or if all are equal.
   */
  readonly within: string | null;
  /** Compared with the reference, over the same programs; null for the reference itself and where it is unknown. */
  readonly difference: string | null;
  /** `best`: no other mean is better; `level`: the seeds do not distinguish it from the best. Neither with one seed. */
  readonly word: "best" | "level" | null;
}

export interface TableRow {
  readonly mark: SystemMark;
  readonly seeds: number;
  readonly unserved: number;
  readonly cells: readonly TableCell[];
}

const meanOf = (estimate: SeedEstimate | null): number => estimate?.value ?? Number.NaN;

/** Differences below this share of a value are rounding. */
const ALIKE = 1e-9;

function withinText(estimate: SeedEstimate | null, unit: Measure["unit"]): string | null {
  if (estimate === null || estimate.low === null || estimate.high === null) return null;
  const { factor, digits } = unit(estimate.value);
  const text = (value: number) => (factor * value).toFixed(digits);
  const { value, low, high } = estimate;
  // Identical seeds share their inputs: they do not show how far off another draw of prompts would be.
  if (high - low <= ALIKE * Math.abs(value)) return null;
  return low === 0 && high > 2 * value ? `(0 to ${text(high)})` : `±${text(high - value)}`;
}

/** The text of a difference and of its ends, without the unit. */
interface Wording {
  readonly number: (value: number) => string;
  readonly whole: (number: string) => string;
}

const pointsWording: Wording = { number: (value) => formatDelta(value, 1), whole: (number) => number };

/** Per cent up to twice as much, then as a factor. */
const ratioWording = (ratio: number): Wording =>
  ratio < 2
    ? {
        number: (each) => formatDelta((each - 1) * 100, Math.abs(ratio - 1) < 0.1 ? 1 : 0),
        whole: (number) => `${number}\u00a0%`,
      }
    : { number: (each) => String(Number(each.toPrecision(3))), whole: (number) => `×${number}` };

function differenceText(pair: { readonly difference: SeedEstimate | null; readonly ratio: SeedEstimate | null }, metric: LabMetric) {
  // Points of quality are compared by difference, all other figures by ratio.
  const estimate = metric === "quality" ? pair.difference : pair.ratio;
  if (estimate === null) return null;
  const { number, whole } = metric === "quality" ? pointsWording : ratioWording(estimate.value);
  const neutral = metric === "quality" ? 0 : 1;
  const { value, low, high } = estimate;
  if (low === null || high === null) return whole(number(value));
  if (low === high && number(value) === number(neutral)) return "the same";
  return `${whole(number(value))} (${number(low)} to ${number(high)})`;
}

/** Whether the seeds do not distinguish two systems: their paired interval contains zero. */
function isLevel(cells: readonly LabCell[], systems: readonly [number, number], metric: LabMetric): boolean {
  const difference = paired(cells, systems[0], systems[1], metric)[0]?.difference;
  return difference !== undefined && difference?.low != null && difference.high !== null && difference.low <= 0 && difference.high >= 0;
}

/** All systems at one rate, as a table: means over seeds, their intervals, differences to a reference, and the best. */
export function prepareTable(
  run: Pick<LabRun, "cells">,
  marks: readonly SystemMark[],
  view: { readonly rate: number; readonly against: number; readonly sort: SortKey; readonly descending: boolean },
): readonly TableRow[] {
  const cells = run.cells.filter((cell) => cell.rate === view.rate);
  const summed = overSeeds(cells);
  const bestOf = new Map(
    measures.map((measure) => {
      const sign = measure.best === "least" ? 1 : -1;
      const known = summed.filter(({ figures }) => figures[measure.metric] !== null);
      const order = [...known].sort((a, b) => sign * (meanOf(a.figures[measure.metric]) - meanOf(b.figures[measure.metric])));
      return [measure.metric, order[0] ?? null] as const;
    }),
  );
  const rows = summed.flatMap((each): (TableRow & { readonly figures: typeof each.figures })[] => {
    const mark = marks[each.system];
    if (mark === undefined) return [];
    const tableCells = measures.map(({ metric, format, unit }): TableCell => {
      const estimate = each.figures[metric];
      const best = bestOf.get(metric) ?? null;
      const isBest = best !== null && meanOf(estimate) === meanOf(best.figures[metric]);
      const pair = each.system === view.against ? undefined : paired(cells, each.system, view.against, metric)[0];
      return {
        metric,
        value: estimate === null ? ABSENT : format(estimate.value),
        within: withinText(estimate, unit),
        difference: pair === undefined ? null : differenceText(pair, metric),
        word:
          summed.length < 2 || estimate?.low == null
            ? null
            : isBest
              ? "best"
              : best !== null && isLevel(cells, [each.system, best.system], metric)
                ? "level"
                : null,
      };
    });
    return [{ mark, seeds: each.seeds, unserved: each.unserved, cells: tableCells, figures: each.figures }];
  });
  const key = view.sort;
  const sign = view.descending ? -1 : 1;
  const value = (row: (typeof rows)[number]) => (key === "system" ? row.mark.index : meanOf(row.figures[key]));
  // Unknown values go last in either sort direction.
  return [...rows].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    return Number.isNaN(left) || Number.isNaN(right) ? Number(Number.isNaN(left)) - Number(Number.isNaN(right)) : sign * (left - right);
  });
}

import { mean } from "../numeric/quantile";
import type { LabCell } from "./labCell";

/** A mean over seeds with its 90 % interval; an end is null where one seed, or none with a value, gives no interval. */
export interface SeedEstimate {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly seeds: number;
}

/** Figures of a cell that are averaged over seeds; NaN where a cell has no value. */
export const labMetrics = {
  meanSeconds: (cell: LabCell) => cell.meanSeconds,
  p95Seconds: (cell: LabCell) => cell.latencyQuantiles[95] ?? Number.NaN,
  meanSecondsPerToken: (cell: LabCell) => cell.meanSecondsPerToken,
  p90SecondsPerToken: (cell: LabCell) => cell.secondsPerTokenQuantiles?.p90 ?? Number.NaN,
  p95SecondsPerToken: (cell: LabCell) => cell.secondsPerTokenQuantiles?.p95 ?? Number.NaN,
  p99SecondsPerToken: (cell: LabCell) => cell.secondsPerTokenQuantiles?.p99 ?? Number.NaN,
  meanQueueSeconds: (cell: LabCell) => cell.meanQueueSeconds,
  queueShare: (cell: LabCell) => cell.queueShare ?? Number.NaN,
  longestWaitSeconds: (cell: LabCell) => cell.longestWaitSeconds,
  quality: (cell: LabCell) => cell.quality ?? Number.NaN,
  programsPerSecond: (cell: LabCell) => cell.programsPerSecond,
  usdPerProgram: (cell: LabCell) => cell.usdPerProgram,
  preemptions: (cell: LabCell) => cell.preemptions,
  preemptedShare: (cell: LabCell) => cell.preemptedShare ?? Number.NaN,
} as const;
export type LabMetric = keyof typeof labMetrics;

/** Student's t for two-sided 90 %, by degrees of freedom from 1: a run has at most 20 seeds. */
const STUDENT_T_90 = [
  ...[6.3138, 2.92, 2.3534, 2.1318, 2.015, 1.9432, 1.8946, 1.8595, 1.8331, 1.8125],
  ...[1.7959, 1.7823, 1.7709, 1.7613, 1.7531, 1.7459, 1.7396, 1.7341, 1.7291],
];

/**
 * Mean of a figure, one value per seed, with Student's 90 % interval; null for no values. NaN is an unknown value and makes all unknown.
 */
export function seedEstimate(values: readonly number[]): SeedEstimate | null {
  const seeds = values.length;
  if (seeds === 0 || values.some((value) => Number.isNaN(value))) return null;
  const value = mean(values);
  const t = STUDENT_T_90[Math.min(seeds - 1, STUDENT_T_90.length) - 1];
  if (t === undefined) return { value, low: null, high: null, seeds };
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (seeds - 1);
  const half = t * Math.sqrt(variance / seeds);
  return { value, low: value - half, high: value + half, seeds };
}

/** A system's results at a rate: of each figure the mean over seeds; null where it is not known. */
export interface SystemFigures {
  /** Indices into the description. */
  readonly system: number;
  readonly rate: number;
  /** Number of finished seeds: less than the total during a run. */
  readonly seeds: number;
  /** Programs not completely served, over all seeds. */
  readonly unserved: number;
  readonly figures: { readonly [metric in LabMetric]: SeedEstimate | null };
}

/** Cells of a run, summarised over seeds: by system, then by rate, in the order of the description. */
export function overSeeds(cells: readonly LabCell[]): readonly SystemFigures[] {
  const groups = new Map<string, LabCell[]>();
  for (const cell of inOrder(cells)) {
    const key = `${cell.system} ${cell.rate}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [cell]);
    else group.push(cell);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const figures = Object.fromEntries(
      Object.entries(labMetrics).map(([metric, read]) => [metric, notBelowZero(seedEstimate(group.map(read)))]),
    ) as SystemFigures["figures"];
    const unserved = group.reduce((sum, cell) => sum + cell.unserved, 0);
    return [{ system: first.system, rate: first.rate, seeds: group.length, unserved, figures }];
  });
}

/** No figure is below 0: an interval that extends below is cut. */
const notBelowZero = (estimate: SeedEstimate | null): SeedEstimate | null =>
  estimate === null || estimate.low === null ? estimate : { ...estimate, low: Math.max(0, estimate.low) };

/** A system against another at one rate, over the seeds that both have. */
export interface PairedFigures {
  readonly rate: number;
  readonly metric: LabMetric;
  /** System minus reference. */
  readonly difference: SeedEstimate | null;
  /** System over reference: the geometric mean of the seeds' ratios; null where a value is not above 0. */
  readonly ratio: SeedEstimate | null;
}

/**
 * A figure of one system against another's, rate by rate. Both served the same programs under a seed, so that the common effect of the seed
 * cancels: the interval is that of the differences (or of the logarithms of the ratios), far narrower than that of each separately.
 */
export function paired(cells: readonly LabCell[], system: number, reference: number, metric: LabMetric): readonly PairedFigures[] {
  const read = labMetrics[metric];
  const ofReference = new Map(cells.filter((cell) => cell.system === reference).map((cell) => [`${cell.rate} ${cell.seed}`, read(cell)]));
  const rates = [...new Set(cells.map(({ rate }) => rate))].sort((a, b) => a - b);
  return rates.flatMap((rate) => {
    const pairs = inOrder(cells).flatMap((cell) => {
      const other = ofReference.get(`${rate} ${cell.seed}`);
      return cell.system === system && cell.rate === rate && other !== undefined ? [[read(cell), other] as const] : [];
    });
    if (pairs.length === 0) return [];
    const difference = seedEstimate(pairs.map(([own, other]) => own - other));
    const positive = pairs.every(([own, other]) => own > 0 && other > 0);
    const logarithm = positive ? seedEstimate(pairs.map(([own, other]) => Math.log(own / other))) : null;
    return [{ rate, metric, difference, ratio: logarithm && exponential(logarithm) }];
  });
}

/** An estimate of logarithms as one of their figures. */
export const exponential = ({ value, low, high, seeds }: SeedEstimate): SeedEstimate => ({
  value: Math.exp(value),
  low: low === null ? null : Math.exp(low),
  high: high === null ? null : Math.exp(high),
  seeds,
});

/** The points of one frontier: a policy at several slacks, in the order of the description. */
export interface LabFrontier {
  readonly name: string;
  readonly points: readonly SystemFigures[];
}

/** At one rate, a frontier for each name that systems have; systems without results yet are left out. */
export function frontiers(systems: readonly { readonly name: string }[], cells: readonly LabCell[], rate: number): readonly LabFrontier[] {
  const figures = overSeeds(cells.filter((cell) => cell.rate === rate));
  const names = [...new Set(systems.map(({ name }) => name))];
  return names.flatMap((name) => {
    const points = figures.filter(({ system }) => systems[system]?.name === name);
    return points.length === 0 ? [] : [{ name, points }];
  });
}

const inOrder = (cells: readonly LabCell[]): readonly LabCell[] =>
  [...cells].sort((a, b) => a.system - b.system || a.rate - b.rate || a.seed - b.seed);

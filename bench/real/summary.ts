import { quantile } from "@/solver/numeric/quantile";
import type { RunFigures } from "./figures";
import type { Predicted, RealRecord, RecordOf, Records } from "./records";

/** A run with what was predicted of it. */
export interface Pair {
  readonly engine: string;
  readonly traffic: string;
  /** Of the measured saturation. */
  readonly share: number;
  readonly repeat: number;
  readonly requestsPerSecond: number;
  readonly predicted: Predicted;
  /** The p95 when another part of the replayed record is known; null where arrivals are drawn. */
  readonly p95OtherPart: number | null;
  readonly measured: Extract<RealRecord, { kind: "measured" }>["measured"];
}

export const errorFields = ["mean", "p50", "p95", "p99", "ttft", "tpot"] as const;
export type ErrorField = (typeof errorFields)[number];

/**
 * The runs of engines straight that have both.
 *
 * @throws Error where a run began before its prediction was stored, or has another profile.
 */
export function pairsOf(records: Records): readonly Pair[] {
  return records.all("measured").flatMap((run) => {
    const { key, requestsPerSecond, measured } = run;
    const before = records.all("predicted").findLast((one) => one.key === key);
    const [engine = "", traffic = "", share = "", repeat = ""] = key.split(" | ");
    if (before === undefined) return [];
    checkOrder(before, run);
    const { predicted, p95OtherPart } = before;
    const of = { engine, traffic, share: Number(share), repeat: Number(repeat), requestsPerSecond };
    return [{ ...of, predicted, p95OtherPart, measured }];
  });
}

/** @throws Error unless the prediction was stored before its run began, and with the same profile. */
export function checkOrder(predicted: RecordOf<"predicted" | "cascade-predicted">, run: RecordOf<"measured" | "cascade-measured">): void {
  if (predicted.atMs > run.beganMs) throw new Error(`${run.key}: the run began before its prediction was stored.`);
  if (predicted.profile !== run.profile) throw new Error(`${run.key}: prediction and run have different profiles.`);
}

/** Predicted over measured, minus 1; null where either is missing. */
function errorOf({ predicted, measured }: Pick<Pair, "predicted" | "measured">, field: ErrorField): number | null {
  const [own, other]: (number | null)[] = [(predicted as RunFigures)[field], (measured as RunFigures)[field]];
  return own === null || other === null || own === undefined || other === undefined ? null : own / other - 1;
}

/** Median of the absolute errors; NaN without any. */
export function medianError(pairs: readonly Pair[], field: ErrorField): number {
  const errors = pairs.flatMap((pair) => errorOf(pair, field) ?? []).map(Math.abs);
  return errors.length === 0 ? Number.NaN : quantile(Float64Array.from(errors), 0.5);
}

/** Median of the absolute errors of the p95 where another part of the replayed record is known; null where nothing is replayed. */
export function medianOtherPart(pairs: readonly Pair[]): number | null {
  const errors = pairs.flatMap(({ p95OtherPart, measured }) => (p95OtherPart === null ? [] : [Math.abs(p95OtherPart / measured.p95 - 1)]));
  return errors.length === 0 ? null : quantile(Float64Array.from(errors), 0.5);
}

/** Whether the measured p95 is in the predicted band. */
export const isInBand = ({ predicted, measured }: Pair): boolean => predicted.p95Low <= measured.p95 && measured.p95 <= predicted.p95High;

/** Runs whose load the planner accepts: bands are those of plans. */
export const plansOnly = (pairs: readonly Pair[]): readonly Pair[] => pairs.filter(({ predicted }) => predicted.refused === null);

/** Share of the plans whose measured p95 is in the band; NaN without any. */
export function bandShare(pairs: readonly Pair[]): number {
  const plans = plansOnly(pairs);
  return plans.filter(isInBand).length / plans.length;
}

/** Median of the plans' half widths; NaN without any. */
export function medianHalfWidth(pairs: readonly Pair[]): number {
  const widths = plansOnly(pairs).map(halfWidth);
  return widths.length === 0 ? Number.NaN : quantile(Float64Array.from(widths), 0.5);
}

/** Runs that the targets need, in all and at each share of saturation. */
const LEAST = { runs: 24, each: 6 } as const;

/** What is missing for the targets; null: nothing. */
export function missingRuns(pairs: readonly Pair[], shares: readonly number[]): string | null {
  const each = shares.map((share) => pairs.filter((pair) => pair.share === share).length);
  if (pairs.length >= LEAST.runs && each.every((count) => count >= LEAST.each)) return null;
  return `${pairs.length} runs, ${each.join(", ")} by load; the targets need ${LEAST.runs}, ${LEAST.each} at each load`;
}

/** Half the band's width relative to its figure. */
export const halfWidth = ({ predicted: { p95Low, p95High, p95 } }: Pair): number => (p95High - p95Low) / 2 / p95;

/** Runs that are compared: the first of each repeated one, so that none counts twice. */
export const firstOnly = (pairs: readonly Pair[]): readonly Pair[] => pairs.filter(({ repeat }) => repeat === 0);

/** Relative standard deviation of a figure from one repeat to the next, pooled over the repeated runs; null without repeats. */
export function repeatNoise(pairs: readonly Pair[], field: ErrorField): number | null {
  const groups = new Map<string, number[]>();
  for (const { engine, traffic, share, measured } of pairs) {
    const key = `${engine} ${traffic} ${share}`;
    const value = (measured as RunFigures)[field];
    if (value !== null) groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  let [squares, freedom] = [0, 0];
  for (const values of groups.values()) {
    const centre = values.reduce((sum, one) => sum + one, 0) / values.length;
    for (const value of values) squares += (value / centre - 1) ** 2;
    freedom += values.length - 1;
  }
  return freedom === 0 ? null : Math.sqrt(squares / freedom);
}

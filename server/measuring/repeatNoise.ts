import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { mean } from "@/solver/numeric/quantile";

/**
 * How much the figures of a run differ from those of its repeats: the pooled standard deviation of their logarithms, within runs of one
 * point. Null where nothing was repeated.
 *
 * @param pointOf the same number for runs of one point.
 */
export function repeatNoise(runs: readonly MeasuredRun[], pointOf: (at: number) => number): MeasuredEngine["noise"] {
  const points = new Map<number, MeasuredRun[]>();
  for (const [at, run] of runs.entries()) points.set(pointOf(at), [...(points.get(pointOf(at)) ?? []), run]);
  const repeated = [...points.values()].filter(({ length }) => length > 1);
  if (repeated.length === 0) return null;
  const degrees = repeated.reduce((sum, { length }) => sum + length - 1, 0);
  const deviation = (value: (run: MeasuredRun) => number): number => {
    const squares = repeated.map((own) => {
      const logs = own.map((run) => Math.log(value(run)));
      return logs.reduce((sum, log) => sum + (log - mean(logs)) ** 2, 0);
    });
    return Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / degrees);
  };
  return {
    repeats: degrees,
    ttft: deviation((run) => run.ttftSeconds),
    tpot: deviation((run) => run.tpotSeconds ?? run.endToEndSeconds),
    endToEnd: deviation((run) => run.endToEndSeconds),
    p95: deviation((run) => run.p95Seconds),
  };
}

import type { MeasuredEngine } from "../hardware/measuredEngine";
import { NORMAL_90 } from "../numeric/interval";
import { leastSquares, robust } from "../numeric/leastSquares";
import { lengthsKey, type MeasuredRun, type RunPoint } from "./measuredRun";
import { type MeasuredTimes, termSearch } from "./measuredTerms";
import { metricErrors, profileErrors } from "./servingErrors";
import { errorsOf, type FittedEngine, type RunErrors, simulateRun } from "./simulatedRun";

type Limits = MeasuredEngine["limits"];

/** Everything about a measured engine but its times and errors. */
export interface FitMeasuredOptions extends Pick<MeasuredEngine, "model" | "gpu" | "shape" | "noise"> {
  readonly limits: Limits;
  readonly asOf: string;
  readonly source: string;
  readonly emulated: boolean;
}

export type FitMeasured =
  | {
      readonly outcome: "fitted";
      readonly engine: MeasuredEngine;
      readonly trained: readonly RunErrors[];
      /** Each run predicted by a fit to the runs of other lengths; empty where all have the same lengths. */
      readonly keptAside: readonly RunErrors[];
    }
  | { readonly outcome: "refused"; readonly reason: string };

/** Fewest different runs, and parts in which runs are kept aside. */
const LEAST_RUNS = 5;
const FOLDS = 5;

/** Beyond this relative error a run has the influence of its square root only. */
const ROBUST_SCALE = 0.15;

/** Weights of TTFT and end to end relative to TPOT. */
const WEIGHT = 0.7;

/** Step of the finite differences, on the logarithms: a simulation has small jumps wherever a request falls into another step. */
const DIFFERENCE = 0.03;

/** Token budgets of a step that engines have by default: chosen by the runs where the engine does not report its own. */
const TOKEN_BUDGETS = [512, 2048, 8192];
/** An assumed token budget, and the share of its cost below which another one is chosen. */
const ASSUMED_BUDGET = 2048;
const CLEARLY_LESS = 0.9;

/** Largest deviation of a pace. */
const MOST_DEVIATION = 0.5;

/**
 * Fits the times of an engine to measured closed loops, each simulated as the loop it was: least squares on the logarithms of TTFT, TPOT and
 * end to end, robust to single wrong runs; then the pace to their p95. Deterministic. Errors are on runs kept aside by their lengths, each
 * predicted by a whole fit, token budget and pace among it, to the others.
 *
 * @returns refused, with the reason, with fewer than five different runs.
 */
export function fitMeasured(runs: readonly MeasuredRun[], options: FitMeasuredOptions): FitMeasured {
  const points = new Set(runs.map((run) => `${lengthsKey(run)} ${run.concurrency}`)).size;
  if (points < LEAST_RUNS) return { outcome: "refused", reason: `A fit needs ${LEAST_RUNS} different runs, found ${points}.` };
  const fitted = fitEngine(runs, options.limits);
  const groups = [...new Set(runs.map(lengthsKey))].sort();
  const folds = groups.length < 2 ? 0 : Math.min(FOLDS, groups.length);
  const keptAside = Array.from({ length: folds }, (_, fold) => {
    const isUnseen = (run: MeasuredRun): boolean => groups.indexOf(lengthsKey(run)) % folds === fold;
    const seen = fitEngine(
      runs.filter((run) => !isUnseen(run)),
      options.limits,
    );
    return runs.filter(isUnseen).map((run) => errorsOf(run, seen));
  }).flat();
  const span = (name: keyof RunPoint) => ({
    least: Math.min(...runs.map((run) => run[name])),
    most: Math.max(...runs.map((run) => run[name])),
  });
  const { model, gpu, shape, noise, asOf, source, emulated } = options;
  return {
    outcome: "fitted",
    engine: {
      ...{ model, gpu, shape, ...fitted, noise },
      errors: keptAside.length === 0 ? null : profileErrors(keptAside),
      p95Errors: keptAside.length === 0 ? null : metricErrors(keptAside.map(({ p95 }) => p95)),
      measuredOn: {
        runs: runs.length,
        requests: runs.reduce((sum, { requests }) => sum + requests, 0),
        inputTokens: span("inputTokens"),
        outputTokens: span("outputTokens"),
        concurrency: span("concurrency"),
        ...{ asOf, source },
        ...(emulated ? { emulated } : {}),
      },
    },
    trained: runs.map((run) => errorsOf(run, fitted)),
    keptAside,
  };
}

/** Everything that a fit finds: times, the token budget of a step, and the pace. Kept-aside runs have no part in any of it. */
function fitEngine(runs: readonly MeasuredRun[], known: Limits): FittedEngine {
  const { times, limits } = fitWithBudget(runs, known);
  const steady = { ...times, limits };
  const paceDeviation = fittedPace(runs.map((run) => errorsOf(run, steady)));
  return paceDeviation > 0 ? { ...steady, paceDeviation } : steady;
}

/**
 * The variation of the engine's pace that explains its percentiles: a fit without it has a p95 that is too low relative to its mean, by what
 * a pace that varies adds to the tail.
 *
 * @param errors of the steady fit on the runs that it has seen.
 */
function fittedPace(errors: readonly RunErrors[]): number {
  const logMean = (of: readonly number[]): number => of.reduce((sum, error) => sum + Math.log(1 + error), 0) / of.length;
  const missed = logMean(errors.map((one) => one.errors.endToEnd)) - logMean(errors.map(({ p95 }) => p95));
  return Math.min(MOST_DEVIATION, Math.max(0, missed / NORMAL_90));
}

/** The fit, with the token budget of a step that explains the runs best where the engine does not report it. */
function fitWithBudget(runs: readonly MeasuredRun[], limits: Limits): { readonly limits: Limits; readonly times: MeasuredTimes } {
  if (limits.maxBatchedTokens.origin === "reported") return { limits, times: fitTimes(runs, limits).times };
  // Budgets beyond what any step of these runs can have are one.
  const most = Math.max(...runs.map(({ inputTokens, concurrency }) => (inputTokens + 1) * concurrency));
  const isAsAssumed = (budget: number): boolean => Math.min(budget, most) === Math.min(ASSUMED_BUDGET, most);
  const under = (value: number): Limits => ({ ...limits, maxBatchedTokens: { value, origin: "assumed" } });
  const assumed = { limits: under(ASSUMED_BUDGET), ...fitTimes(runs, under(ASSUMED_BUDGET)) };
  const others = TOKEN_BUDGETS.filter((budget) => !isAsAssumed(budget) && budget > limits.maxSequences.value).map((budget) => {
    const other: Limits = { ...limits, maxBatchedTokens: { value: budget, origin: "observed" } };
    return { limits: other, ...fitTimes(runs, other) };
  });
  const best = others.reduce((found, other) => (other.cost < found.cost ? other : found), assumed);
  return best.cost < CLEARLY_LESS * assumed.cost ? best : assumed;
}

function fitTimes(runs: readonly MeasuredRun[], limits: Limits): { readonly times: MeasuredTimes; readonly cost: number } {
  const bounds = { maxSequences: limits.maxSequences.value, maxBatchedTokens: limits.maxBatchedTokens.value };
  const search = termSearch(runs, bounds);
  const residuals = (logs: readonly number[]): number[] => {
    const times = search.timesAt(logs);
    const misfits = runs.flatMap((run) => {
      const found = simulateRun(run, times, limits);
      const apart = (predicted: number, measured: number): number => robust(Math.log(predicted / measured), ROBUST_SCALE);
      return [
        run.tpotSeconds === null ? 0 : apart(found.tpotSeconds, run.tpotSeconds),
        WEIGHT * apart(found.ttftSeconds, run.ttftSeconds),
        WEIGHT * apart(found.endToEndSeconds, run.endToEndSeconds),
      ];
    });
    return [...misfits, ...search.prior(logs)];
  };
  const found = search.starts.map((start) => leastSquares(residuals, start, DIFFERENCE));
  const { parameters, cost } = found.reduce((best, other) => (other.cost < best.cost ? other : best));
  return { times: search.timesAt(parameters), cost };
}

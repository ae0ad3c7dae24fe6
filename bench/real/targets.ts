import { atLeast, atMost, type Budget, budgetText, verdict } from "../lib/benchmark";
import { table } from "../lib/tables";
import { SHARES } from "./singleRuns";
import { bandShare, type ErrorField, firstOnly, medianError, medianHalfWidth, missingRuns, type Pair } from "./summary";

/** A figure over all compared runs, each counted once, with what it should be. */
export interface Target {
  readonly name: string;
  readonly unit: string;
  readonly budget: Budget;
  of(pairs: readonly Pair[]): number;
  /** The field whose noise over repeats stands beside it; null: none. */
  readonly field: ErrorField | null;
}

const median = (name: string, field: ErrorField, most: number): Target => ({
  ...{ name, field, unit: "% off", of: (pairs) => 100 * medianError(pairs, field) },
  budget: atMost(most, "the simulated engine is unlike the real one, or the fit does not carry over to this load"),
});

/** The median error of the p95 at each share of saturation, in per cent. */
export const p95ByShare = (pairs: readonly Pair[]): readonly { readonly share: number; readonly error: number }[] =>
  SHARES.map((share) => ({
    share,
    error:
      100 *
      medianError(
        pairs.filter((pair) => pair.share === share),
        "p95",
      ),
  }));

export const targets: readonly Target[] = [
  median("mean end to end", "mean", 10),
  median("time per output token", "tpot", 10),
  median("time to first token", "ttft", 15),
  {
    ...{ name: "p95, worst group", field: "p95", unit: "% off" },
    of: (pairs) => Math.max(...p95ByShare(pairs).map(({ error }) => error)),
    budget: atMost(15, "waits near saturation grow otherwise than simulated"),
  },
  {
    ...{ name: "measured p95 in the 90 % band", field: null, unit: "% of runs", of: (pairs) => 100 * bandShare(pairs) },
    budget: atLeast(80, "bands are too narrow for what the prediction does not know"),
  },
  {
    ...{ name: "measured p95 in the 90 % band, not too wide", field: null, unit: "% of runs", of: (pairs) => 100 * bandShare(pairs) },
    budget: atMost(97, "bands are so wide that hardly a run could lie outside"),
  },
  {
    ...{ name: "half width of the p95 band", field: null, unit: "% of the p95", of: (pairs) => 100 * medianHalfWidth(pairs) },
    budget: atMost(25, "bands are widened instead of errors made smaller"),
  },
];

/** What is missing for figures of all runs; null: nothing. */
export const missingFor = (pairs: readonly Pair[]): string | null => missingRuns(firstOnly(pairs), SHARES);

/** The targets with what each kind of prediction reaches; cells are empty where there are too few runs. */
export function targetTable(kinds: readonly { readonly by: string; readonly pairs: readonly Pair[] }[]): string {
  const cell = ({ of, unit, budget }: Target, pairs: readonly Pair[]): string => {
    const figure = missingFor(pairs) === null ? of(firstOnly(pairs)) : Number.NaN;
    return Number.isNaN(figure) ? "-" : `${figure.toFixed(1)}, ${verdict({ figure, unit, detail: "" }, budget)}`;
  };
  return table(
    ["figure", "unit", "target", ...kinds.map(({ by }) => by)],
    targets.map((target) => [target.name, target.unit, budgetText(target.budget), ...kinds.map(({ pairs }) => cell(target, pairs))]),
  );
}

import type { CardCatalogue } from "../hardware/catalogue";
import { type Coefficient, coefficientNames, hostCoefficients, type KernelProfile, type ProfileErrors } from "../hardware/engineProfile";
import { quantile } from "../numeric/quantile";
import { type RowProblem, rowProblemTexts } from "../workload/rowProblems";
import { type CoefficientFit, fitCoefficients, logTimes, raised, SELDOM, simulated, without, withoutNeedless } from "./coefficientFit";
import { identifiable, type NotFitted } from "./identifiable";
import { errorsOfRun, runSimulator, type ServingPrediction } from "./predictServing";
import { profileErrors } from "./servingErrors";
import type { ServingRow } from "./servingRow";

export interface FitOptions {
  /** Leave TTFT out of the fit, where clients or front ends delay first tokens by more than engine steps explain. */
  readonly tpotOnly?: boolean;
  /** Also fit factors on kernel efficiencies, in addition to host and link terms. */
  readonly efficiencies: boolean;
  readonly id: string;
  readonly name: string;
  /** Day of the fit, YYYY-MM-DD. */
  readonly asOf: string;
  readonly cards: CardCatalogue;
}

/** An outlier row that was excluded. */
interface Outlier {
  readonly line: number;
  readonly id: string;
  readonly reason: string;
}

/** Held-out rows: predicted by a fit to the others, five parts in turn, each fitted from the base. */
interface KeptAside {
  /** What distinguishes the parts: kinds of load (model, GPU, shape and lengths), or requests in flight where all rows are of one kind. */
  readonly by: "lengths" | "concurrency";
  readonly rows: readonly (Pick<ServingPrediction, "errors"> & { readonly line: number })[];
}

export type FitProfile =
  | {
      readonly outcome: "fitted";
      readonly profile: KernelProfile;
      readonly trainErrors: ProfileErrors;
      /** Null where all rows are of one run: none could be held out. */
      readonly keptAside: KeptAside | null;
      /** Errors on rows held out by lengths; null where they were held out by requests in flight, which does not test other lengths. */
      readonly heldOutErrors: ProfileErrors | null;
      readonly notFitted: readonly NotFitted[];
      readonly outliers: readonly Outlier[];
    }
  | { readonly outcome: "refused"; readonly reason: string };

/** Maximum number of different row problems that a refusal names. */
const SAID_PROBLEMS = 3;

const FOLDS = 5;

/** Minimum number of different runs for a fit. */
const LEAST_RUNS = 5;

/** When even the best fit has a larger TPOT error, the rows and the kernels cannot both be right. */
const CONTRADICTION = 0.5;

/** A row is excluded when its logarithmic error is this many times the median one, and at least `OUTLIER_ERROR`. */
const OUTLIER_TIMES = 6;
const OUTLIER_ERROR = Math.log(2.5);

/**
 * The cost has valleys: slower kernels and a slower host can look alike. A fit starts from the base's kernels and from this share of them.
 */
const SLOW_START = 0.75;

/** Mean lengths of a live engine count as equal within steps of this many per doubling. */
const LENGTHS_A_DOUBLING = 2;

/** With models of one depth, time per layer and time per step are the same. */
const ONE_DEPTH: NotFitted = {
  coefficient: "layerSeconds",
  reason: "these rows hold models of one depth only, where stepSeconds says the same",
};

/** Coefficients determined by TTFT. */
const REQUEST_TIMES: readonly Coefficient[] = [
  "requestSeconds",
  "requestSecondsPerInputToken",
  "requestSecondsPerOutputToken",
  "delaySeconds",
];

/**
 * Fits an engine's own terms to measured runs, each simulated as the closed loop it was: least squares on the logarithms of TPOT and
 * TTFT, robust to single wrong rows, with a weak prior at the base profile. Coefficients that the rows do not determine keep the base's
 * value, with the reason.
 *
 * @param rows of one engine; those without measurements or that do not fit their GPUs are left out.
 * @returns refused, with the reason, when too few rows are left.
 */
export function fitProfile(rows: readonly ServingRow[], base: KernelProfile, options: FitOptions): FitProfile {
  const { cards, id, name, asOf, tpotOnly = false } = options;
  const measured = rows.filter(({ measured: { ttftSeconds, tpotSeconds } }) => ttftSeconds !== null || tpotSeconds !== null);
  const simulateWithBase = runSimulator(base, cards);
  const problems: RowProblem[] = [];
  const usable = measured.filter((row) => {
    const run = simulateWithBase(row);
    if ("reason" in run) problems.push({ line: row.line, reason: run.reason });
    return !("reason" in run);
  });
  const targets = (own: readonly ServingRow[]): readonly ServingRow[] => (tpotOnly ? own.map(withoutTtft) : own);
  const runs = new Set(usable.map((row) => `${groupOf(row)} ${row.concurrency}`)).size;
  if (runs < LEAST_RUNS) {
    const why = rowProblemTexts("The table", problems).map((text) => ` ${text}.`);
    return {
      outcome: "refused",
      reason: `A fit needs ${LEAST_RUNS} different measured runs that Weir can simulate, found ${runs}.${why.slice(0, SAID_PROBLEMS).join("")}`,
    };
  }
  const wanted: readonly Coefficient[] = options.efficiencies ? coefficientNames : [...hostCoefficients, "allReduce"];
  const oneDepth = new Set(usable.map(({ model }) => cards.models[model]?.architecture.layers)).size === 1;
  // TPOT also depends on them, by how simultaneous prompts are divided: too little to determine them.
  const leftOut = tpotOnly ? REQUEST_TIMES : [];
  const separable = wanted.filter((name) => !(oneDepth && name === "layerSeconds") && !leftOut.includes(name));
  const { fitted: tellable, notFitted } = identifiable(
    separable,
    (profile) => logTimes(targets(usable), profile, cards),
    raised(base, separable),
  );
  if (tellable.length === 0) return { outcome: "refused", reason: "These rows depend on none of the coefficients." };

  const needless = (names: readonly Coefficient[]): readonly NotFitted[] =>
    SELDOM.filter(({ coefficient }) => tellable.includes(coefficient) && !names.includes(coefficient));
  const fitOf = (names: readonly Coefficient[]): CoefficientFit => {
    // Terms left out of a fit are 0 in it: the base's value, of another engine, would be neither fitted nor absent.
    return { base: raised(without(base, needless(names)), names), names, cards, factors: options.efficiencies ? [1, SLOW_START] : [1] };
  };
  const { fit, fitted: first } = withoutNeedless(fitOf, tellable, targets(usable));
  const fitted = fit.names;
  const unfitted = without(base, needless(fitted)).provenance;
  const errors = errorsOf(targets(usable), { ...base, coefficients: first.coefficients }, cards);
  const { kept, outliers } = setAside(usable, errors);
  const { coefficients, deviations, factor } = outliers.length === 0 ? first : fitCoefficients(targets(kept), fit);
  const trained = { ...base, coefficients };

  const by = new Set(kept.map(groupOf)).size > 1 ? "lengths" : "concurrency";
  const partOf = (row: ServingRow): string => (by === "lengths" ? groupOf(row) : String(row.concurrency).padStart(8));
  const parts = [...new Set(kept.map(partOf))].sort();
  const foldOf = (row: ServingRow): number => parts.indexOf(partOf(row)) % FOLDS;
  const folds = parts.length < 2 ? [] : Array.from({ length: Math.min(FOLDS, parts.length) }, (_, fold) => fold);
  const heldOut = folds.flatMap((fold) => {
    const seen = kept.filter((row) => foldOf(row) !== fold);
    const unseen = kept.filter((row) => foldOf(row) === fold);
    return errorsOf(unseen, { ...base, coefficients: fitCoefficients(targets(seen), { ...fit, factors: [factor] }).coefficients }, cards);
  });
  const keptAside = folds.length === 0 ? null : ({ by, rows: heldOut } as const);
  const heldOutErrors = keptAside?.by === "lengths" ? profileErrors(heldOut) : null;
  const trainErrors = profileErrors(errorsOf(kept, trained, cards));
  if (trainErrors.tpot.meanAbsolute > CONTRADICTION) {
    const percent = Math.round(100 * trainErrors.tpot.meanAbsolute);
    return {
      outcome: "refused",
      reason: `These rows contradict the kernels' tables: even the best fit misses their TPOT by ${percent} %.`,
    };
  }
  const emulated = kept.some(({ origin }) => origin === "emulated");
  const fittedFrom = (coefficient: Coefficient): KernelProfile["provenance"][Coefficient] => {
    const deviation = deviations[fitted.indexOf(coefficient)] ?? Number.POSITIVE_INFINITY;
    const runs = emulated ? "runs of emulated engines" : "measured runs";
    return { kind: "fitted", source: `${name}: ${kept.length} ${runs}, ${asOf}`, standardError: deviation < 1 ? deviation : null };
  };
  return {
    outcome: "fitted",
    profile: {
      id,
      name,
      engine: base.engine,
      coefficients,
      provenance: Object.fromEntries(
        coefficientNames.map((one) => [one, fitted.includes(one) ? fittedFrom(one) : unfitted[one]]),
      ) as KernelProfile["provenance"],
      errors: heldOutErrors,
      fittedOn: {
        rows: kept.length,
        setAside: outliers.length,
        weights: [...new Set(kept.map((row) => row.precision))],
        models: [...new Set(kept.map((row) => row.model))],
        gpus: [...new Set(kept.map((row) => row.gpu))],
        tp: span(kept.map((row) => row.shape.tp)),
        inputTokens: span(kept.map((row) => row.inputTokens)),
        outputTokens: span(kept.map((row) => row.outputTokens)),
        concurrency: span(kept.map((row) => row.concurrency)),
        asOf,
        ...(emulated ? { emulated } : {}),
      },
    },
    trainErrors,
    keptAside,
    heldOutErrors,
    notFitted: [
      ...notFitted,
      ...leftOut.map((coefficient) => ({ coefficient, reason: "TTFT, which tells it, is left out" })),
      ...(oneDepth ? [ONE_DEPTH] : []),
      ...needless(fitted),
    ],
    outliers,
  };
}

const groupOf = ({ model, gpu, shape, origin, inputTokens, outputTokens }: ServingRow): string => {
  // Mean lengths are never exactly the same twice: a live engine has one kind of load as long as they stay near.
  const length = (tokens: number): number => (origin === "run" ? tokens : Math.round(LENGTHS_A_DOUBLING * Math.log2(tokens)));
  return [model, gpu, shape.tp, shape.pp, length(inputTokens), length(outputTokens)].map((part) => String(part).padStart(8)).join(" ");
};

const withoutTtft = (row: ServingRow): ServingRow => ({ ...row, measured: { ...row.measured, ttftSeconds: null } });

const span = (values: readonly number[]): { least: number; most: number } => ({ least: Math.min(...values), most: Math.max(...values) });

/** Rows whose error, in the fitted metrics, is far larger than the others', and the rest. */
function setAside(rows: readonly ServingRow[], found: ReturnType<typeof errorsOf>): { kept: ServingRow[]; outliers: Outlier[] } {
  const errors = found.map(({ errors: { ttft, tpot } }) => Math.max(logarithmic(ttft), logarithmic(tpot)));
  const limit = Math.max(OUTLIER_ERROR, OUTLIER_TIMES * quantile(errors, 0.5));
  const kept: ServingRow[] = [];
  const outliers: Outlier[] = [];
  for (const [index, row] of rows.entries()) {
    const error = errors[index] ?? 0;
    if (error <= limit) kept.push(row);
    else {
      const factor = Math.exp(error).toFixed(1);
      outliers.push({
        line: row.line,
        id: row.id,
        reason: `${factor} times off, the median row ${Math.exp(quantile(errors, 0.5)).toFixed(2)} times`,
      });
    }
  }
  // When most rows are "outliers", the model is wrong, not the rows.
  return kept.length < rows.length * 0.8 ? { kept: [...rows], outliers: [] } : { kept, outliers };
}

const logarithmic = (error: number | null): number => (error === null ? 0 : Math.abs(Math.log(Math.max(1e-6, 1 + error))));

function errorsOf(rows: readonly ServingRow[], profile: KernelProfile, cards: CardCatalogue) {
  const simulate = simulated(profile, cards);
  return rows.map((row) => {
    const run = simulate(row);
    return { line: row.line, errors: errorsOfRun(row, run) };
  });
}

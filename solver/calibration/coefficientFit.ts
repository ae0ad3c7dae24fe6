import type { CardCatalogue } from "../hardware/catalogue";
import {
  type Coefficient,
  type EngineCoefficients,
  hostCoefficients,
  type KernelProfile,
  noDelay,
  noTokenWork,
} from "../hardware/engineProfile";
import { leastSquares, robust } from "../numeric/leastSquares";
import type { NotFitted } from "./identifiable";
import { runSimulator, type SimulatedRun } from "./predictServing";
import type { ServingRow } from "./servingRow";

/** Weight of TTFT relative to TPOT: it is the smaller and the noisier part of a request's time. */
const TTFT_WEIGHT = 0.7;

/** Beyond this relative error a row has the influence of its square root only. */
const ROBUST_SCALE = 0.15;

/** Strength of the prior at the base profile, on the logarithm of each coefficient: weak on host terms, stronger on measured kernels. */
const HOST_PULL = 0.02;
const FACTOR_PULL = 0.15;

/** Step of the fit's finite differences, on the logarithms: a simulation has small jumps wherever a request falls into another step. */
const DIFFERENCE = 0.03;

/** Coefficients that are fitted only where that lowers the cost of a fit to at most `SELDOM_GAIN` of it. */
export const SELDOM: readonly NotFitted[] = [
  {
    coefficient: "delaySeconds",
    reason: "these rows are explained about as well without it, all time of requests outside the steps being work of the front end",
  },
  {
    coefficient: "requestSecondsPerOutputToken",
    reason:
      "these rows are explained about as well without it; it takes so many tokens a second that the front end cannot stream them as fast",
  },
];
const SELDOM_GAIN = 0.9;

/** Minimum starting values of a fit: from nearly zero the effect of a host term, and its logarithm, would not show. */
const LEAST_START: Readonly<Partial<Record<Coefficient, number>>> = {
  stepSeconds: 3e-4,
  layerSeconds: 3e-6,
  sequenceSeconds: 1e-5,
  requestSeconds: 5e-3,
  requestSecondsPerInputToken: 3e-6,
  requestSecondsPerOutputToken: 5e-5,
  delaySeconds: 5e-3,
};

/** A fit's settings: the profile that is its start and prior, and which coefficients it may change. */
export interface CoefficientFit {
  readonly base: KernelProfile;
  readonly names: readonly Coefficient[];
  readonly cards: CardCatalogue;
  /** Shares of the base's kernel factors from which the search starts, each in turn. */
  readonly factors: readonly number[];
}

/** The profile with the named coefficients at least at their minimum starting values. */
export const raised = (profile: KernelProfile, names: readonly Coefficient[]): KernelProfile => ({
  ...profile,
  coefficients: {
    ...profile.coefficients,
    ...Object.fromEntries(names.map((name) => [name, Math.max(LEAST_START[name] ?? 0, profile.coefficients[name])])),
  },
});

/** The profile with the coefficients at 0; the provenance of those that the base has above 0 says so. */
export const without = (profile: KernelProfile, absent: readonly NotFitted[]): KernelProfile => {
  const changed = absent.filter(({ coefficient }) => profile.coefficients[coefficient] > 0);
  const absentProvenance = { delaySeconds: noDelay, requestSecondsPerOutputToken: noTokenWork } as const;
  return {
    ...profile,
    coefficients: { ...profile.coefficients, ...Object.fromEntries(changed.map(({ coefficient }) => [coefficient, 0])) },
    provenance: {
      ...profile.provenance,
      ...Object.fromEntries(
        changed.map(({ coefficient }) => [coefficient, absentProvenance[coefficient as keyof typeof absentProvenance]]),
      ),
    },
  };
};

/** Logarithms of each row's simulated TPOT and TTFT where it has measured ones, the latter multiplied by its weight. */
export function logTimes(rows: readonly ServingRow[], profile: KernelProfile, cards: CardCatalogue): Float64Array {
  const simulate = simulated(profile, cards);
  return Float64Array.from(rows.flatMap((row) => perMetric(row, simulate(row), (predicted) => Math.log(predicted))));
}

/**
 * Coefficients fitted to rows, with the base's as prior, and their relative standard errors.
 *
 * @param alsoFrom coefficients from which the search also starts; the best result of all starts counts.
 */
export function fitCoefficients(
  rows: readonly ServingRow[],
  { base, names, cards, factors }: CoefficientFit,
  alsoFrom: readonly EngineCoefficients[] = [],
): { readonly coefficients: EngineCoefficients; readonly deviations: readonly number[]; readonly factor: number; readonly cost: number } {
  const coefficientsAt = (logs: readonly number[]): EngineCoefficients => ({
    ...base.coefficients,
    ...Object.fromEntries(names.map((name, index) => [name, base.coefficients[name] * Math.exp(logs[index] ?? 0)])),
  });
  const residuals = (logs: readonly number[]): number[] => {
    const simulate = simulated({ ...base, coefficients: coefficientsAt(logs) }, cards);
    const misfits = rows.flatMap((row) =>
      perMetric(row, simulate(row), (predicted, measured) => robust(Math.log(predicted / measured), ROBUST_SCALE)),
    );
    const pulls = names.map((name, index) => (hostCoefficients.includes(name) ? HOST_PULL : FACTOR_PULL) * (logs[index] ?? 0));
    return [...misfits, ...pulls];
  };
  const starts = [
    ...factors.map((factor) => ({ factor, start: names.map((name) => (hostCoefficients.includes(name) ? 0 : Math.log(factor))) })),
    ...alsoFrom.map((from) => ({ factor: 1, start: names.map((name) => Math.log(from[name] / base.coefficients[name])) })),
  ];
  const fits = starts.map(({ factor, start }) => ({ ...leastSquares(residuals, start, DIFFERENCE), factor }));
  const { parameters, deviations, factor, cost } = fits.reduce((best, other) => (other.cost < best.cost ? other : best));
  return { coefficients: coefficientsAt(parameters), deviations, factor, cost };
}

/**
 * A fit to rows with only those of `SELDOM` that the rows clearly require: their effects are similar to those of others, so that a fit with
 * all of them would divide one effect among several.
 */
export function withoutNeedless(
  fitOf: (names: readonly Coefficient[]) => CoefficientFit,
  names: readonly Coefficient[],
  rows: readonly ServingRow[],
) {
  const fitted = (own: readonly Coefficient[], alsoFrom: readonly EngineCoefficients[] = []) => {
    const fit = fitOf(own);
    return { fit, fitted: fitCoefficients(rows, fit, alsoFrom) };
  };
  const asked = SELDOM.flatMap(({ coefficient }) => (names.includes(coefficient) ? [coefficient] : []));
  const usual = names.filter((name) => !asked.includes(name));
  if (usual.length === 0) return fitted(names);
  let best = fitted(usual);
  for (const name of asked) {
    const more = fitted(names.filter((one) => one === name || best.fit.names.includes(one)));
    if (more.fitted.cost >= SELDOM_GAIN * best.fitted.cost) continue;
    // A search can stop before its minimum: only a fit that also fails from the larger fit's result shows that the coefficient is needed.
    const again = fitted(best.fit.names, [more.fitted.coefficients]);
    best = more.fitted.cost < SELDOM_GAIN * again.fitted.cost ? more : again;
  }
  return best;
}

/** A value per metric the row has measured, weighted. */
function perMetric(row: ServingRow, run: SimulatedRun, value: (predicted: number, measured: number) => number): number[] {
  const { ttftSeconds, tpotSeconds } = row.measured;
  return [
    ...(tpotSeconds === null || Number.isNaN(run.tpotSeconds) ? [] : [value(run.tpotSeconds, tpotSeconds)]),
    ...(ttftSeconds === null ? [] : [TTFT_WEIGHT * value(run.ttftSeconds, ttftSeconds)]),
  ];
}

export function simulated(profile: KernelProfile, cards: CardCatalogue): (row: ServingRow) => SimulatedRun {
  const simulate = runSimulator(profile, cards);
  return (row) => {
    const run = simulate(row);
    if ("reason" in run) throw new Error(`Row ${row.id} was simulated before and is refused now: ${run.reason}`);
    return run;
  };
}

import { type Coefficient, hostCoefficients, type KernelProfile } from "../hardware/engineProfile";

/** A coefficient that the rows do not determine. */
export interface NotFitted {
  readonly coefficient: Coefficient;
  readonly reason: string;
}

/**
 * Minimum change of the rows' times (RMS) by doubling a coefficient (halving a factor, which cannot exceed a nominal rate) for it to be
 * fitted.
 */
const LEAST_EFFECT = 0.01;

/** Nor when the others can produce all but this share of its effect. A smaller remainder is due to the simulation's jumps. */
const LEAST_OWN_SHARE = 0.2;

/** The rows that would be needed to determine a coefficient. */
const NEEDS: Readonly<Record<Coefficient, string>> = {
  stepSeconds: "small models or few requests in flight, whose steps are short",
  layerSeconds: "models of different depth",
  sequenceSeconds: "many requests in flight",
  requestSeconds: "TTFT of short prompts, with few and with many requests in flight",
  requestSecondsPerInputToken: "TTFT of short and of long prompts",
  requestSecondsPerOutputToken: "so many requests in flight that the front end cannot stream their tokens as fast as the engine makes them",
  delaySeconds: "TTFT of short prompts, with few and with many requests in flight",
  weightRead: "few requests in flight, so that steps only read weights",
  compute: "long prompts or many requests in flight",
  kvRead: "long contexts with many requests in flight",
  prefillAttention: "long prompts, of 8000 tokens or so",
  allReduce: "tensor parallelism with long prompts",
};

/**
 * Which of the wanted coefficients the rows determine: by the change of their simulated times with each (the difference when it is
 * doubled), and by the part of that change that no combination of the previous coefficients can produce (Gram-Schmidt).
 *
 * @param logTimes logarithms of the rows' simulated times under a profile; always the same length.
 */
export function identifiable(
  wanted: readonly Coefficient[],
  logTimes: (profile: KernelProfile) => Float64Array,
  base: KernelProfile,
): { readonly fitted: readonly Coefficient[]; readonly notFitted: readonly NotFitted[] } {
  const before = logTimes(base);
  const fitted: Coefficient[] = [];
  const notFitted: NotFitted[] = [];
  const directions: Float64Array[] = [];
  for (const coefficient of wanted) {
    const changed = {
      ...base.coefficients,
      [coefficient]: base.coefficients[coefficient] * (hostCoefficients.includes(coefficient) ? 2 : 0.5),
    };
    const after = logTimes({ ...base, coefficients: changed });
    const column = after.map((value, index) => value - (before[index] ?? 0));
    const effect = Math.sqrt(dot(column, column) / Math.max(1, column.length));
    if (effect < LEAST_EFFECT) {
      const percent = (100 * effect).toFixed(1);
      notFitted.push({
        coefficient,
        reason: `${hostCoefficients.includes(coefficient) ? "doubling" : "halving"} it changes these rows by ${percent} % only; it takes ${NEEDS[coefficient]}`,
      });
      continue;
    }
    const own = Float64Array.from(column);
    for (const direction of directions) {
      const along = dot(own, direction);
      for (let index = 0; index < own.length; index++) own[index] = (own[index] ?? 0) - along * (direction[index] ?? 0);
    }
    const ownLength = Math.sqrt(dot(own, own));
    if (ownLength < LEAST_OWN_SHARE * Math.sqrt(dot(column, column))) {
      notFitted.push({
        coefficient,
        reason: `on these rows ${fitted.join(", ")} can do nearly all that it does; it takes ${NEEDS[coefficient]}`,
      });
      continue;
    }
    fitted.push(coefficient);
    directions.push(own.map((value) => value / ownLength));
  }
  return { fitted, notFitted };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

import { type Coefficient, type EngineProfile, hostCoefficients } from "../hardware/engineProfile";

/** A coefficient that the rows cannot tell. */
export interface NotFitted {
  readonly coefficient: Coefficient;
  readonly reason: string;
}

/** A coefficient is not fitted when doubling it (halving a factor, which cannot rise above a nominal rate) changes the rows' times by less than this, root mean square. */
const LEAST_EFFECT = 0.01;

/** Nor when the others can do all but this share of what it does. What is left at less is the simulation's jumps. */
const LEAST_OWN_SHARE = 0.2;

/** What rows would have to hold for a coefficient to show. */
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
 * Which of the wanted coefficients the rows can tell: by how their simulated times move with each (the difference that doubling it makes), and by
 * what of that movement no combination of the coefficients before it could make (Gram-Schmidt).
 *
 * @param logTimes logarithms of the rows' simulated times under a profile; always the same length.
 */
export function identifiable(
  wanted: readonly Coefficient[],
  logTimes: (profile: EngineProfile) => Float64Array,
  base: EngineProfile,
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

/**
 * Standard normal distribution function, P(X <= x).
 * Method: the continued fraction and polynomial of Hart (1968) in West's form (Wilmott, 2005), error below 1e-15.
 */
export function normalCdf(x: number): number {
  const z = Math.abs(x);
  const tail = upperTail(z);
  return x > 0 ? 1 - tail : tail;
}

function upperTail(z: number): number {
  if (z > 37) return 0;
  const density = Math.exp((-z * z) / 2);
  if (z < 7.07106781186547) {
    const above = polynomial(
      z,
      [0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931, 220.206867912376],
    );
    const below = polynomial(
      z,
      [
        0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831, 793.826512519948,
        440.413735824752,
      ],
    );
    return (density * above) / below;
  }
  const fraction = z + 1 / (z + 2 / (z + 3 / (z + 4 / (z + 0.65))));
  return density / fraction / Math.sqrt(2 * Math.PI);
}

/**
 * Quantile of the standard normal distribution: the x with `normalCdf(x) === probability`.
 * Method: Acklam's rational approximation (relative error 1.2e-9), then one step of Halley's.
 *
 * @param probability 0..1; the ends give -Infinity and Infinity.
 * @throws RangeError outside 0..1.
 */
export function normalQuantile(probability: number): number {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError(`A probability lies in 0..1, found ${probability}`);
  if (probability === 0) return Number.NEGATIVE_INFINITY;
  if (probability === 1) return Number.POSITIVE_INFINITY;
  const rough = approximateQuantile(probability);
  const error = (normalCdf(rough) - probability) * Math.sqrt(2 * Math.PI) * Math.exp((rough * rough) / 2);
  return rough - error / (1 + (rough * error) / 2);
}

/** Where Acklam's approximation changes from its central to its tail form. */
const TAIL = 0.02425;

function approximateQuantile(probability: number): number {
  if (probability > 1 - TAIL) return -approximateQuantile(1 - probability);
  if (probability < TAIL) {
    const q = Math.sqrt(-2 * Math.log(probability));
    const above = polynomial(
      q,
      [-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783],
    );
    return above / polynomial(q, [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1]);
  }
  const q = probability - 0.5;
  const r = q * q;
  const above = polynomial(
    r,
    [-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1, 2.506628277459239],
  );
  const below = polynomial(
    r,
    [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1],
  );
  return (q * above) / below;
}

/** Horner's scheme, highest power first. */
const polynomial = (x: number, coefficients: readonly number[]): number => coefficients.reduce((sum, next) => sum * x + next, 0);

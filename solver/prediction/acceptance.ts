import { sigmoid } from "./logistic";

/** What accepting configurations costs in quality, by prompt. */
export interface AcceptanceCosts {
  /** Configurations of each prompt; the last, of the largest models, is always accepted and loses nothing. */
  readonly size: number;
  /** By prompt, then by configuration: quality that it loses against the last, in the mean over the prompt's programs; negative where it gains. */
  readonly loss: Float32Array;
  /** How many programs each prompt stands for. */
  readonly programs: ArrayLike<number>;
  /** Configurations from the cheapest on. */
  readonly cheapestFirst: Int32Array;
}

/** Quality in 0..100 that accepted configurations may lose against the largest models. */
export const MOST_LOSS = 2;

/** Standard errors that a loss must stay below the most: what is seen of so many prompts is not all there is, and the least threshold is chosen by it. */
const ALLOWANCE = 1;

/** Logits of the thresholds tried, from the strictest down. */
const THRESHOLDS = { from: 8, to: -4, step: 0.1 } as const;

/** What accepted configurations lose over all prompts: in the mean over a prompt's, and where always the cheapest is taken; and their standard errors. */
export interface AcceptedLoss {
  readonly mean: number;
  readonly cheapest: number;
  readonly meanError: number;
  readonly cheapestError: number;
}

/**
 * The least chance from which on configurations may be accepted so that they lose `MOST_LOSS` at most, with one standard error as allowance, both in the mean and
 * where always the cheapest is taken. Thresholds are tried from the strictest down and the first that loses more ends it, so that
 * trying many does not find one by luck. 1, which no head reaches, where even the strictest loses more.
 *
 * @param logits by prompt, then by head: what heads say of prompts that they were not fitted to.
 */
export function acceptanceThreshold(logits: Float32Array, costs: AcceptanceCosts): number {
  let threshold = 1;
  for (let step = 0; step <= (THRESHOLDS.from - THRESHOLDS.to) / THRESHOLDS.step; step++) {
    const logit = THRESHOLDS.from - step * THRESHOLDS.step;
    const heads = costs.size - 1;
    const { mean, cheapest, meanError, cheapestError } = acceptedLoss(
      costs,
      (prompt, head) => (logits[prompt * heads + head] ?? 0) >= logit,
    );
    if (Math.max(mean + ALLOWANCE * meanError, cheapest + ALLOWANCE * cheapestError) > MOST_LOSS) break;
    threshold = sigmoid(logit);
  }
  return threshold;
}

/** What is lost where these are accepted, and always the last. */
export function acceptedLoss(
  { size, loss, programs, cheapestFirst }: AcceptanceCosts,
  isAccepted: (prompt: number, configuration: number) => boolean,
): AcceptedLoss {
  const prompts = loss.length / size;
  const means = new Float64Array(prompts);
  const cheapest = new Float64Array(prompts);
  for (let prompt = 0; prompt < prompts; prompt++) {
    let [sum, count] = [0, 1];
    for (const configuration of cheapestFirst) {
      if (configuration === size - 1 || !isAccepted(prompt, configuration)) continue;
      const lost = loss[prompt * size + configuration] ?? 0;
      if (count === 1) cheapest[prompt] = lost;
      sum += lost;
      count += 1;
    }
    means[prompt] = sum / count;
  }
  const whole = Array.from(programs).reduce((all, one) => all + one, 0);
  const over = (of: Float64Array) => {
    const mean = of.reduce((sum, lost, prompt) => sum + (lost * (programs[prompt] ?? 0)) / whole, 0);
    return { mean, error: Math.sqrt(of.reduce((sum, lost, prompt) => sum + (((programs[prompt] ?? 0) / whole) * (lost - mean)) ** 2, 0)) };
  };
  const [all, least] = [over(means), over(cheapest)];
  return { mean: all.mean, cheapest: least.mean, meanError: all.error, cheapestError: least.error };
}

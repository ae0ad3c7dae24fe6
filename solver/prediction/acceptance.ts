import { sigmoid } from "./logistic";

/** The quality loss of accepted configurations, by prompt. */
export interface AcceptanceCosts {
  /** Configurations of each prompt; the last, with the largest models, is always accepted and loses nothing. */
  readonly size: number;
  /** By prompt, then by configuration: quality lost relative to the last, the mean over the prompt's programs; negative for a gain. */
  readonly loss: Float32Array;
  /** Number of programs of each prompt. */
  readonly programs: ArrayLike<number>;
  /** Configurations by ascending cost. */
  readonly cheapestFirst: Int32Array;
}

/** Maximum quality in 0..100 that accepted configurations may lose relative to the largest models. */
export const MOST_LOSS = 2;

/** Standard errors by which a loss must stay below the maximum: the prompts are a sample, and the threshold is selected on them. */
const ALLOWANCE = 1;

/** Logits of the thresholds tried, strictest first. */
const THRESHOLDS = { from: 8, to: -4, step: 0.1 } as const;

/** Loss of accepted configurations over all prompts, as the mean over a prompt's and for always the cheapest; and their standard errors. */
export interface AcceptedLoss {
  readonly mean: number;
  readonly cheapest: number;
  readonly meanError: number;
  readonly cheapestError: number;
}

/**
 * The smallest probability from which on configurations may be accepted such that they lose at most `MOST_LOSS`, with one standard error as
 * margin, both on average and if always the cheapest is taken. Thresholds are tried from the strictest down until the first that loses
 * more, so that the number of tries does not produce a lucky one. 1, which no head reaches, where even the strictest loses more.
 *
 * @param logits by prompt, then by head: the heads' outputs for prompts that they were not fitted to.
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

/** The loss where these are accepted, and always the last. */
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

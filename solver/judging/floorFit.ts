import { normalCdf, normalQuantile } from "@/solver/numeric/normal";

/** A smaller model before the largest one, in qualities 0..1. */
export interface CascadeStep {
  /** Mean quality of the smaller one's answers. */
  readonly quality: number;
  /** Mean quality of the largest one's on prompts that the smaller one answers rightly, and wrongly. */
  readonly largestWhereRight: number;
  readonly largestWhereWrong: number;
}

/** `unneeded`: a smaller model alone meets the floor. `unreachable`: not even a perfect judge would meet it. */
export type FloorFit = "unneeded" | "fit" | "weak" | "unreachable";

/** Minimum share of the largest model's answers that a judge must save to be worth its calls. */
const LEAST_SAVING = 0.1;

/** Shares of the largest model that are tried: half a hundredth apart. */
const SHARES = 200;

/**
 * Whether with a judge of this reliability a cascade meets a floor with at least 10 % fewer answers of the largest model than with a random
 * judge: the deferral curve against random deferral (Jitkrittum et al., NeurIPS 2023, section 4). The judge is the binormal one of
 * `modelledScores`; at every share of deferred answers a better one keeps more right answers, so that no better judge is ever rated weaker.
 *
 * @param steps every smaller model before the largest; the best of them counts, for the judge and for the random one.
 * @param floor 0..1. @param auc 0..1; below 0.5 it is treated as random.
 */
export function floorFit(steps: readonly CascadeStep[], floor: number, auc: number): FloorFit {
  const leastBy = (reliability: number): number | null => {
    const shares = steps.flatMap((step) => leastShare(step, floor, reliability) ?? []);
    return shares.length === 0 ? null : Math.min(...shares);
  };
  const byCoin = leastBy(0.5);
  if (byCoin === 0) return "unneeded";
  const byJudge = leastBy(Math.min(1, Math.max(0.5, auc)));
  if (byJudge === null) return leastBy(1) === null ? "unreachable" : "weak";
  return byCoin === null || byJudge <= (1 - LEAST_SAVING) * byCoin ? "fit" : "weak";
}

/** The smallest share of answers left to the largest model at which the floor is met; null: at none. */
function leastShare(step: CascadeStep, floor: number, auc: number): number | null {
  for (let at = 0; at <= SHARES; at += 1) {
    // Rounding errors of the last digits are no quality difference.
    if (qualityAt(step, at / SHARES, auc) >= floor - 1e-9) return at / SHARES;
  }
  return null;
}

function qualityAt({ quality, largestWhereRight, largestWhereWrong }: CascadeStep, share: number, auc: number): number {
  const { right, wrong } = deferred(quality, share, auc);
  return quality - right + right * largestWhereRight + wrong * largestWhereWrong;
}

/** Shares of all answers that are deferred although right, and wrong, when those with the judge's lowest scores are deferred. */
function deferred(quality: number, share: number, auc: number): { readonly right: number; readonly wrong: number } {
  if (auc >= 1) {
    const wrong = Math.min(share, 1 - quality);
    return { right: share - wrong, wrong };
  }
  if (share <= 0 || share >= 1) return { right: share * quality, wrong: share * (1 - quality) };
  const apart = Math.SQRT2 * normalQuantile(auc);
  let low = -12;
  let high = 12;
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (quality * normalCdf(middle - apart / 2) + (1 - quality) * normalCdf(middle + apart / 2) < share) low = middle;
    else high = middle;
  }
  const right = quality * normalCdf(low - apart / 2);
  return { right, wrong: share - right };
}

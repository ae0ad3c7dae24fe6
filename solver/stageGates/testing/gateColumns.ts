import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { Workload } from "@/solver/workload/workload";

/** What columns of gates are drawn for a test. */
interface DrawnColumns {
  /** Further samples of each answer; left out: no column of agreement. */
  readonly samples?: number;
  /** Other models that agreement compares with, in place of samples. */
  readonly peers?: readonly string[];
  /** Standard deviation of confidence about a right or wrong answer's mean, in points; left out: 20. */
  readonly noise?: number;
  readonly seed?: number;
}

/** A workload with columns of confidence and agreement that tell right from wrong answers, with errors. */
export function withColumns(workload: Workload, { samples, peers, noise = 20, seed = 1 }: DrawnColumns = {}): Workload {
  const others = peers?.length ?? samples ?? 0;
  const models = workload.outcomes.models.map((own) => {
    const random = seededRandom(mixSeed(seed, own.model));
    const within = (score: number): number => Math.min(100, Math.max(0.1, score));
    const confidence = own.label.map((label) => within((label > 50 ? 75 : 40) + noise * random.normal()));
    const agreement = own.label.map((label) => {
      const agrees = Array.from({ length: others }, () => (random.next() < (label > 50 ? 0.85 : 0.3) ? 1 : 0));
      return (100 * agrees.reduce<number>((sum, one) => sum + one, 0)) / Math.max(1, others);
    });
    return { ...own, confidence, ...(others === 0 ? {} : { agreement }) };
  });
  const compared = peers === undefined ? { samples: { count: others, temperature: 0.8 } } : { peers: [...peers] };
  return {
    ...workload,
    outcomes: { ...workload.outcomes, models },
    origin: { ...workload.origin, ...(others === 0 ? {} : { agreement: { answer: "whole" as const, ...compared } }) },
  };
}

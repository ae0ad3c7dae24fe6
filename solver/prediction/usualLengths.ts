import type { RequestFacts } from "./predictor";

/** Usual output lengths of stages, as mean natural logarithms of tokens: by workflow and stage, by stage in any workflow, and overall. */
export interface UsualLengths {
  /** Keys are `workflow` and `stage` separated by a line break. */
  readonly pairs: readonly (readonly [key: string, logTokens: number])[];
  readonly stages: readonly (readonly [stage: string, logTokens: number])[];
  readonly all: number;
}

/** Number of a stage's requests from which its own mean has more weight than the mean of its parent group. */
const TRUSTED_AFTER = 5;

/** Means by stage, each shrunk towards that of its parent group while few of its requests are known. */
export function learnUsualLengths(facts: readonly RequestFacts[], logTokens: Float32Array): UsualLengths {
  const all = logTokens.reduce((sum, value) => sum + value, 0) / logTokens.length;
  const stages = meansBy(facts, logTokens, { keyOf: ({ stage }) => stage, towards: () => all });
  const pairs = meansBy(facts, logTokens, { keyOf: pairOf, towards: ({ stage }) => stages.get(stage) ?? all });
  return { pairs: [...pairs], stages: [...stages], all };
}

/** Returns a request's usual length: its stage's where its workflow is unknown, the overall mean where the stage is unknown too. */
export function usualLengthOf({ pairs, stages, all }: UsualLengths): (facts: RequestFacts) => number {
  const [byPair, byStage] = [new Map(pairs), new Map(stages)];
  return (facts) => byPair.get(pairOf(facts)) ?? byStage.get(facts.stage) ?? all;
}

const pairOf = ({ workflow, stage }: RequestFacts): string => `${workflow}\n${stage}`;

interface Grouping {
  readonly keyOf: (facts: RequestFacts) => string;
  readonly towards: (facts: RequestFacts) => number;
}

function meansBy(facts: readonly RequestFacts[], values: Float32Array, { keyOf, towards }: Grouping): Map<string, number> {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const [at, of] of facts.entries()) {
    const key = keyOf(of);
    const group = sums.get(key) ?? { sum: TRUSTED_AFTER * towards(of), count: TRUSTED_AFTER };
    group.sum += values[at] ?? 0;
    group.count += 1;
    sums.set(key, group);
  }
  return new Map(Array.from(sums, ([key, { sum, count }]) => [key, sum / count]));
}

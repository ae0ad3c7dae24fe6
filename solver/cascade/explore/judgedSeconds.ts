import { secondsAt, spreadFactor } from "@/solver/judging/judgeTime";
import { seededRandom } from "@/solver/numeric/random";
import { type PlanningSample, promptsReaching, type Routed } from "../routing/routing";
import type { Exploration } from "./exploration";

type Judged = { readonly stages: readonly number[]; readonly routed: Pick<Routed, "start" | "exit"> };

/**
 * Seconds that the judgements of each prompt take together under a judge outside of the deployment whose time varies: by the length of what
 * it reads, and about that by chance, drawn once for each answer, so that routings are compared on the same draws.
 *
 * @returns null where its time does not vary.
 */
export function judgedSecondsOf(
  sample: PlanningSample,
  { secondsPerCall, variation }: Exploration["judge"],
  seed: number,
): ((of: Judged) => Float64Array) | null {
  if (variation === undefined) return null;
  const random = seededRandom(seed);
  const perAnswer = sample.outputTokens.map((answers) =>
    Float64Array.from(
      answers,
      (answer, prompt) =>
        secondsAt(secondsPerCall, variation, (sample.inputTokens[prompt] ?? 0) + answer) * spreadFactor(random, variation),
    ),
  );
  return ({ stages, routed }) => {
    const sums = new Float64Array(sample.prompts);
    for (const [stage, ladder] of stages.slice(0, -1).entries())
      for (const prompt of promptsReaching(routed, stage)) sums[prompt] = (sums[prompt] ?? 0) + (perAnswer[ladder]?.[prompt] ?? 0);
    return sums;
  };
}

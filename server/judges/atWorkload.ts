import type { FixedJudge } from "@/solver/cascade/explore/situation";
import { secondsAt } from "@/solver/judging/judgeTime";
import type { Workload } from "@/solver/workload/workload";

/**
 * A judge whose mean is measured on calls of one length, with its mean over a workload's answers: prompts and answers of every model but
 * the largest, whose answers are not judged. An entered mean already applies to the workload; times that do not grow with the length are
 * unchanged.
 */
export function atWorkload(judge: FixedJudge, { outcomes }: Pick<Workload, "outcomes">): FixedJudge {
  const { variation, secondsPerCall, source } = judge;
  if (variation === undefined || variation.lengthShare === 0) return judge;
  const judged = outcomes.models.slice(0, Math.max(1, outcomes.models.length - 1));
  const meanOf = (values: ArrayLike<number>): number =>
    Array.from(values).reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const answered = meanOf(judged.map(({ outputTokens }) => meanOf(outputTokens)));
  const tokens = Math.max(1, meanOf(outcomes.inputTokens) + answered);
  const seconds = secondsAt(secondsPerCall, variation, tokens);
  const growing = (variation.lengthShare * secondsPerCall * tokens) / variation.tokens;
  return {
    ...judge,
    secondsPerCall: source?.kind === "entered" ? secondsPerCall : seconds,
    variation: { ...variation, tokens, lengthShare: seconds > 0 ? growing / seconds : 0 },
  };
}

import type { SecretUse } from "@/server/contracts/engine/engineAccess";
import type { Answerer, Measure, ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { answererKey, answererUses, isUp, type PoolContext, secretRefusal, upstreamsOf, whereOf } from "./answererPool";
import { judgeOf } from "./profileShape";

/** The secrets that a profile sends to addresses of its own, and where. */
export const profileUses = ({ models, measures }: ProfileRequest): readonly SecretUse[] =>
  [...models, ...measures.flatMap((measure) => judgeOf(measure) ?? [])].flatMap(answererUses);

/** Whether a sample has what a measure needs; one sentence where it has not. */
function lacking({ kind, name }: Measure, { models }: ProfileRequest, set: PromptSet): string | null {
  if ((kind === "reference" || kind === "exact") && set.withReference === 0)
    return `"${name}" needs reference answers, and no prompt of "${set.name}" has one: upload prompts with a field reference, or choose a rubric.`;
  if (kind === "unit-test" && set.withTest === 0)
    return `"${name}" needs tests, and no prompt of "${set.name}" has one: upload prompts with a field test, or choose another measure.`;
  if (kind === "pairwise" && models.length < 2) return `"${name}" compares two models: choose a second model.`;
  return null;
}

/** Why an answerer cannot be called now, in a sentence; null if it can. */
async function unreachable(answerer: Answerer, ground: PoolContext, signal: AbortSignal): Promise<string | null> {
  const found = upstreamsOf(answerer, ground);
  if (!found.ok) return found.message;
  // Its key is entered when the profile is started, and asked without one it would only refuse.
  if (secretRefusal(answerer) !== null) return null;
  const up = await Promise.all(found.upstreams.map((upstream) => isUp(upstream, signal)));
  const where = whereOf(answerer, ground.clusterName);
  return up.includes(true) ? null : `${answerer.model} ${where} does not answer yet: start it, or wait until it has loaded.`;
}

/** For an answerer used as a model and as a judge, or for two measures, with different prices: the cost of a call would be ambiguous. */
function pricedTwice(asked: readonly Answerer[]): readonly string[] {
  const first = new Map<string, Answerer>();
  return asked.flatMap((answerer) => {
    const key = answererKey(answerer);
    const { model, usdPerMillionInputTokens, usdPerMillionOutputTokens } = first.get(key) ?? answerer;
    first.set(key, first.get(key) ?? answerer);
    const isSame =
      usdPerMillionInputTokens === answerer.usdPerMillionInputTokens && usdPerMillionOutputTokens === answerer.usdPerMillionOutputTokens;
    return isSame ? [] : [`${model} has two prices at the same place: give it one, as a model and as a judge.`];
  });
}

/** Obstacles to a job, a sentence each. */
export async function profileProblems(
  request: ProfileRequest,
  set: PromptSet | null,
  {
    ground,
    measureProblem,
    signal,
  }: {
    readonly ground: PoolContext;
    readonly measureProblem: (measure: Measure) => Promise<string | null>;
    readonly signal: AbortSignal;
  },
): Promise<readonly string[]> {
  if (set === null) return ["There is no such sample of prompts: choose another."];
  if (set.deleted) return [`The texts of "${set.name}" were deleted: take another sample.`];
  const asked = [...request.models, ...request.measures.flatMap((measure) => judgeOf(measure) ?? [])];
  const problems = await Promise.all([
    ...pricedTwice(asked),
    ...asked.map((answerer) => unreachable(answerer, ground, signal)),
    ...request.measures.map((measure) => lacking(measure, request, set)),
    ...request.measures.map(measureProblem),
  ]);
  return [...new Set(problems.filter((problem) => problem !== null))];
}

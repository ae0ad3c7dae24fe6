import type { JustInTimePolicy } from "@/solver/plan/policySchema";

/** What the score of an agent's answer by one model says of its program. All are chances, 0..1. */
export interface ScoredAnswers {
  /** That an answer of the model is right, before its score is known: the mean of the gate's calibrated scores. */
  readonly prior: number;
  /** That it is right where the program is accurate, and where it is not; the first is at least the second. */
  readonly rightIfAccurate: number;
  readonly rightIfNot: number;
}

/** Chances are held this far from 0 and 1: no score is certain, and its odds stay finite. */
export const LEAST_CHANCE = 0.01;

/**
 * The change of the log odds that a program ends accurate, by the score of one of its answers. By Bayes' rule, for a configuration c that
 * agrees with what was done:
 *
 *     logit P(accurate under c | scores) = logit P(accurate under c) + sum over scored answers of log F
 *     F = (a L + 1 - a) / (b L + 1 - b)        L = [p / (1 - p)] / [r / (1 - r)]
 *
 * with p the calibrated score as the chance that the answer is right, r that chance before the score (`prior`), and a and b the chance of a
 * right answer where the program is accurate and where it is not. The first term is the logit of the head of c. L is the Bayes factor of the
 * score for a right answer, F that for an accurate program: where every accurate program needs a right answer there and no other has one (a =
 * 1, b = 0) F is L; where right answers are as frequent in both (a = b) it is 1.
 *
 * Assumptions, all of conditional independence: given whether the answer is right, its score depends on nothing else of the program; given
 * whether the program ends accurate, the scores of its stages do not depend on one another; a and b are the same for all configurations in
 * which the agent has the model.
 *
 * The shift of one answer lies within log((1 - a) / (1 - b)) and log(a / b), and all chances within 1 % and 99 %. It is 0 at a score equal to
 * the prior, and never falls with the score.
 *
 * @param score calibrated, 0..100.
 */
export function scoreShift(score: number, { prior, rightIfAccurate, rightIfNot }: ScoredAnswers): number {
  const more = Math.expm1(logOdds(score / 100) - logOdds(prior));
  const accurate = held(rightIfAccurate);
  const not = Math.min(accurate, held(rightIfNot));
  return Math.log1p(accurate * more) - Math.log1p(not * more);
}

const held = (chance: number): number => Math.min(1 - LEAST_CHANCE, Math.max(LEAST_CHANCE, chance));

function logOdds(chance: number): number {
  const own = held(chance);
  return Math.log(own / (1 - own));
}

/** By agent, then by model, what scores say in a workflow of the policy; null where they change nothing. */
export function scoredAnswersOf(
  { models, workflows, callGates = [] }: Pick<JustInTimePolicy, "models" | "workflows" | "callGates">,
  index: number,
  agents: readonly string[],
): readonly (readonly (ScoredAnswers | null)[])[] {
  const answers = workflows[index]?.answers ?? [];
  return agents.map((agent) =>
    models.map(({ model }) => {
      const gate = callGates.find((own) => own.model === model);
      const said = answers.find((own) => own.agent === agent && own.model === model);
      return gate === undefined || said === undefined ? null : { ...said, prior: gate.prior };
    }),
  );
}

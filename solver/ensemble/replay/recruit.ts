import { ANY_CATEGORY, type Ensemble } from "../gate/ensembleDocument";
import type { AnswerSample } from "./answerSample";

/**
 * Number of a category's questions with as much weight as all that an expert answered: with few questions the most accurate one is due to
 * chance.
 */
const USUAL_QUESTIONS = 10;

/**
 * Which experts answer a question of a category: the most accurate ones by the ensemble's skills, in its own order. Experts without a known
 * skill come after all others; ties, and unknown categories, follow the ensemble's order.
 */
export function recruiter(ensemble: Pick<Ensemble, "experts" | "expertsPerQuestion" | "skills">): (category: string) => readonly string[] {
  const { experts, expertsPerQuestion, skills = {} } = ensemble;
  const recruits = (category: string): readonly string[] => {
    const known = { ...ownOf(skills, ANY_CATEGORY), ...ownOf(skills, category) };
    const skill = (expert: string): number => ownOf(known, expert) ?? -1;
    const chosen = new Set([...experts].sort((a, b) => skill(b) - skill(a)).slice(0, expertsPerQuestion));
    return experts.filter((expert) => chosen.has(expert));
  };
  const known = new Map(Object.keys(skills).map((category) => [category, recruits(category)]));
  const others = recruits(ANY_CATEGORY);
  return (category) => known.get(category) ?? others;
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * Accuracy of experts by category of question in a labelled sample, 0..1, and over all of it under `*`. That of a category is shrunk
 * towards the whole as by ten more questions of usual accuracy. Questions that an expert was not asked do not count; one without questions
 * has no value.
 */
export function skillsOf(sample: AnswerSample, experts: readonly string[]): NonNullable<Ensemble["skills"]> {
  const tallies = new Map<string, Map<string, { right: number; asked: number }>>();
  for (const { model, asked, correct } of sample.models) {
    if (!experts.includes(model)) continue;
    sample.questionIds.forEach((_, at) => {
      if (asked[at] !== 1) return;
      const category = sample.categories?.[at] ?? "";
      for (const name of category === "" ? [ANY_CATEGORY] : new Set([ANY_CATEGORY, category])) {
        const tally = tallyOf(tallies, name, model);
        tally.asked += 1;
        tally.right += correct[at] ?? 0;
      }
    });
  }
  const whole = (model: string): number => {
    const { right, asked } = tallyOf(tallies, ANY_CATEGORY, model);
    return right / asked;
  };
  return Object.fromEntries(
    [...tallies].map(([category, models]) => {
      const usual = category === ANY_CATEGORY ? 0 : USUAL_QUESTIONS;
      const accuracy = [...models].map(([model, { right, asked }]) => [model, (right + usual * whole(model)) / (asked + usual)]);
      return [category, Object.fromEntries(accuracy)];
    }),
  );
}

type Tallies = Map<string, Map<string, { right: number; asked: number }>>;

function tallyOf(tallies: Tallies, category: string, model: string): { right: number; asked: number } {
  const models = tallies.get(category) ?? new Map<string, { right: number; asked: number }>();
  tallies.set(category, models);
  const tally = models.get(model) ?? { right: 0, asked: 0 };
  models.set(model, tally);
  return tally;
}

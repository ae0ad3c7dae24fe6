import type { Outcome } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { recruiter } from "@/solver/ensemble/replay/recruit";
import type { Assignments } from "../imports/importAssignments";

/** The properties of a question that determine who answers it. */
export interface RecruitedFor {
  readonly id: string;
  /** Empty: it has none. */
  readonly category: string;
}

/**
 * Which experts answer each of some questions: the assigned ones, or else those that the ensemble recruits for its category.
 *
 * @returns parallel to `questions`, or a sentence if a question has no assigned expert, or one that is no expert of the ensemble.
 */
export function recruitment(
  ensemble: Pick<Ensemble, "experts" | "expertsPerQuestion" | "skills">,
  questions: readonly RecruitedFor[],
  assignments: Assignments | null,
): Outcome<{ readonly experts: readonly (readonly string[])[] }> {
  if (assignments === null) {
    const recruit = recruiter(ensemble);
    return { ok: true, experts: questions.map(({ category }) => recruit(category)) };
  }
  const experts: (readonly string[])[] = [];
  for (const { id } of questions) {
    const assigned = assignments.get(id);
    if (assigned === undefined || assigned.length === 0)
      return { ok: false, message: `The assignments name no expert for the question ${id}: add it, or leave the file out.` };
    const stranger = assigned.find((expert) => !ensemble.experts.includes(expert));
    if (stranger !== undefined)
      return { ok: false, message: `The assignments give the question ${id} to ${stranger}, which is no expert of this ensemble.` };
    experts.push(assigned);
  }
  return { ok: true, experts };
}

/** The number of questions that each of the experts answers, in the ensemble's order. */
export function promptsByExpert(experts: readonly string[], recruited: readonly (readonly string[])[]): readonly number[] {
  const counts = new Map(experts.map((expert) => [expert, 0]));
  for (const names of recruited) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return experts.map((expert) => counts.get(expert) ?? 0);
}

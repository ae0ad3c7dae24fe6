import { accurateSet, configurationQuality } from "./configurationOutcomes";
import { countInBoth, countOf } from "./configurationSet";
import type { ConfigurationSpace } from "./configurationSpace";
import type { ProgramSample } from "./programSample";

/** From this label on an answer counts as right. */
const RIGHT_FROM = 50;

/** How right answers of an agent by one model, and accurate programs, go together; chances, 0..1. */
export interface AnswerRelation {
  readonly agent: string;
  readonly model: string;
  readonly rightIfAccurate: number;
  readonly rightIfNot: number;
}

/**
 * How often an answer of each agent by each model is right where its program is accurate, and where it is not: over the programs of a workflow
 * whose quality is known, and all configurations in which the agent has the model, each counted once and smoothed by half a case. An agent's
 * largest model is left out, since the configuration that programs are compared with has its answer too; and so are answers that are right as
 * often where the program is not accurate.
 *
 * @param workflow name of the workflow of the space.
 * @throws RangeError as `configurationQuality` does.
 */
export function answerRelations(sample: ProgramSample, space: ConfigurationSpace, workflow: string): readonly AnswerRelation[] {
  const counts = space.agents.map(() => space.models.map(() => ({ accurate: 0, rightAccurate: 0, not: 0, rightNot: 0 })));
  const models = space.models.map((model) => sample.models.indexOf(model));
  for (const [program, index] of sample.workflow.entries()) {
    if (sample.workflows[index]?.name !== workflow) continue;
    const quality = configurationQuality(sample, program, space);
    if (quality.some(Number.isNaN)) continue;
    const set = accurateSet(quality);
    for (const [agent, own] of counts.entries()) {
      const request = (sample.firstRequest[program] ?? 0) + agent;
      for (const [model, count] of own.entries()) {
        const having = space.having[agent]?.[model] ?? set;
        const accurate = countInBoth(set, having);
        const not = countOf(having) - accurate;
        const isRight = (sample.label[models[model] ?? -1]?.[request] ?? 0) >= RIGHT_FROM;
        count.accurate += accurate;
        count.not += not;
        if (!isRight) continue;
        count.rightAccurate += accurate;
        count.rightNot += not;
      }
    }
  }
  return space.agents.flatMap((agent, at) => {
    const own = space.options[space.choiceOf[at] ?? 0] ?? [];
    return own.slice(0, -1).flatMap((model): AnswerRelation[] => {
      const { accurate = 0, rightAccurate = 0, not = 0, rightNot = 0 } = counts[at]?.[model] ?? {};
      const relation = { rightIfAccurate: (rightAccurate + 0.5) / (accurate + 1), rightIfNot: (rightNot + 0.5) / (not + 1) };
      return relation.rightIfAccurate > relation.rightIfNot ? [{ agent, model: space.models[model] ?? "", ...relation }] : [];
    });
  });
}

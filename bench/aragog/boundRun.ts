import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import type { CellFigures } from "@/solver/lab/cellFigures";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { configurationRowsOf } from "@/solver/prediction/configurationRows";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { readerBound } from "../lib/readings";
import { directRun } from "./directRun";
import { ORACLE } from "./raceCase";
import type { SeededRace } from "./seededRace";

/** Programs from which the bound of all readers is learnt: as many as the lab's heads have. */
const LEARNT_PROGRAMS = 2000;

/** Aragog's result at a rate with the sets of a reader that knows which models' recorded answers to a prompt are right. */
export function withBound(race: SeededRace, rate: number): CellFigures {
  const policy = race.systems.find(({ name }) => name === ORACLE)?.policy;
  const [declared] = policy?.kind === "just-in-time" ? policy.workflows : [];
  if (policy === undefined || declared === undefined) throw new Error("Aragog is not raced with an oracle's sets");
  const sets = setsOf(race, declared.workflow);
  return directRun(race, rate, {
    ...{ policy: buildPolicy(policy), replicas: undefined },
    configurations: (program) => sets.get(race.served.prompt[program] ?? -1),
  });
}

/** The configurations that it accepts, by prompt. */
function setsOf({ answers, spec, served, space }: SeededRace, workflow: WorkflowDocument): ReadonlyMap<number, Uint32Array> {
  const outcomes = tableOf(answers.workload, space.models);
  const sample = planningPrograms(spec, answers.workload, outcomes, LEARNT_PROGRAMS);
  const texts = { sketches: outcomes.promptIds.map(() => null), promptTokens: outcomes.inputTokens };
  const { logitsOf, threshold } = readerBound(outcomes, configurationRowsOf(sample, space, texts, workflow));
  const prompts = Int32Array.from(new Set(served.prompt));
  const logits = logitsOf({ prompts });
  const heads = space.size - 1;
  const least = Math.log(threshold / (1 - threshold));
  return new Map(
    Array.from(prompts, (prompt, row) => {
      const set = emptySet(space.size);
      for (let head = 0; head < heads; head += 1) if ((logits[row * heads + head] ?? 0) >= least) addConfiguration(set, head);
      addConfiguration(set, heads);
      return [prompt, set];
    }),
  );
}

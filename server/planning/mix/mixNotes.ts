import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { CORRELATION, MISLEADS, SINGLES } from "@/solver/mix/mixGround";
import { standardError } from "@/solver/numeric/interval";
import { mean } from "@/solver/numeric/quantile";
import type { MixPlanned } from "./mixPlanned";

/** Standard errors of a mean that are noise. */
const NOISE = 2;

/** What an operator should read before trusting the figures of a plan for a mix, most serious first, a sentence each. */
export function mixNotes({ task, mixed, ground, solved, simulated: { sample, outcome } }: MixPlanned): readonly string[] {
  const { workload, engineProfile = vllmProfile } = task.situation;
  const { workflows } = task.mix;
  const unpredicted = workflows.filter(({ predictor }) => predictor === undefined).map(({ workflow }) => workflow.name);
  const predicted = workflows.filter(({ predictor }) => predictor !== undefined).map(({ workflow }) => workflow.name);
  const missed = ground.classes.flatMap(({ name, floor }) => {
    const of = sample.workflow.map((workflow) => Number(sample.workflows[workflow]?.name === name));
    const quality = outcome.quality.filter((own, program) => of[program] === 1 && !Number.isNaN(own));
    // Within the noise of the draw nothing is said.
    const highest = quality.length === 0 ? 100 : mean(quality) + NOISE * standardError(quality);
    return highest < floor ? [`${name} ${mean(quality).toFixed(1)} under ${floor}`] : [];
  });
  return [
    ...(outcome.unserved === 0
      ? []
      : [`${outcome.unserved} simulated programs were not completely served: some requests have no room in an engine.`]),
    ...(missed.length === 0 ? [] : [`Floors are missed in the simulation, beyond its noise: ${missed.join("; ")}.`]),
    ...(workflows.length === 0
      ? []
      : [
          `Modelled: outcomes of workflows, from labels of single answers, with stages correlated by ${CORRELATION} and a wrong answer misleading with chance ${MISLEADS}. Nothing measured them, nor their lengths, which are assumed by the part of each agent.`,
        ]),
    "Floors hold for means over the planning prompts, not for a lower bound on fresh traffic.",
    "Percentiles are simulated from empty engines on: no public measurement of real engines validates a predicted p95.",
    `Engine times follow the profile "${engineProfile.name}". Work of requests is taken as linear in their tokens; queues are left out of the choice of engines and are in the simulation.`,
    ...(predicted.length === 0
      ? []
      : [
          `${predicted.join(", ")}: which configurations are accurate is known in these figures from labels, as no predictor knows it, so capacity and quality are upper bounds.`,
        ]),
    ...(unpredicted.length === 0
      ? []
      : [
          `${unpredicted.join(", ")}: without a predictor every program has the one planned configuration, and rounds have no models to choose between.`,
        ]),
    ...(task.mix.singles === null
      ? []
      : [`The rate of the plan counts calls: ${SINGLES}, and each agent of a program that is not skipped.`]),
    ...(mixed.leftOut.length === 0
      ? []
      : [`${mixed.leftOut.join(", ")}: fits no node of the cluster, so that no engines of it were planned.`]),
    ...(solved.status === "optimal" ? [] : ["The search ended by its time limit: other engines may carry more, or be faster."]),
    ...(workload.origin.generated ? ["The workload is generated from published figures, not recorded."] : []),
    ...(workload.origin.measured?.emulated
      ? ["Emulated engines gave the answers of the workload: its quality and lengths say nothing of real models."]
      : []),
  ];
}

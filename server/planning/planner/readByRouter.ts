import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { withRouterScores } from "@/solver/workload/modelledRouter";

/** The situation with the modelled router's scores of the prompts, if that decides where requests start; a trained one's are there already. */
export function readByRouter<Situation extends Pick<PlanningSituation, "workload" | "directStart">>(situation: Situation): Situation {
  const { workload, directStart } = situation;
  if (directStart === undefined || "predictor" in directStart) return situation;
  return {
    ...situation,
    workload: { ...workload, outcomes: withRouterScores(workload.outcomes, { ...directStart, seed: workload.seed }) },
  };
}

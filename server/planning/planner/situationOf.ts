import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { startRouterOf } from "@/solver/plan/directStart";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import type { Workload } from "@/solver/workload/workload";

/** The situation of a plan of slack dispatch, in which nothing is judged: its own rate, cards and engine profile. */
export function dispatchSituation(
  { userCards, engineProfile, cluster, workload: planned }: Plan["inputs"],
  { workload, artefact }: Pick<PlanningSituation, "workload"> & { readonly artefact?: string },
): PlanningSituation {
  return {
    ...{ workload, workloadId: planned.id, cluster, requestsPerSecond: planned.requestsPerSecond },
    ...(userCards === undefined ? {} : { userCards }),
    ...(engineProfile === undefined ? {} : { engineProfile }),
    ...(artefact === undefined ? {} : { confidence: { artefact } }),
  };
}

export interface PlannedSituation extends PlanningSituation {
  readonly models: readonly string[];
  readonly judge: NonNullable<PlanningSituation["judge"]>;
}

/** The situation of a plan, with the models that it uses: its own rate, cards, engine profile and judge. */
export function situationOf(
  { policy, inputs }: Pick<Plan, "inputs"> & { readonly policy: CascadePolicy },
  workload: Workload,
): PlannedSituation {
  const { model: judgeModel, secondsPerCall, usdPerCall, variation } = policy.judge;
  const judgeEngine = plannedJudgeEngine({ policy, inputs });
  // Older plans record a direct start only if they have one.
  const directStart = inputs.directStart ?? (policy.directStart && startRouterOf(policy.directStart.router));
  const { userCards, engineProfile, judgeTime: source } = inputs;
  return {
    workload,
    workloadId: inputs.workload.id,
    cluster: inputs.cluster,
    requestsPerSecond: inputs.workload.requestsPerSecond,
    models: policy.stages.map(({ model }) => model),
    ...(userCards === undefined ? {} : { userCards }),
    ...(engineProfile === undefined ? {} : { engineProfile }),
    judge:
      judgeEngine === undefined
        ? {
            ...{ kind: "fixed", model: judgeModel, secondsPerCall, usdPerCall },
            ...(variation === undefined ? {} : { variation }),
            ...(source === undefined ? {} : { source }),
          }
        : { kind: "engine", ...judgeEngine },
    ...(directStart === undefined ? {} : { directStart }),
  };
}

/** The judge that a plan was made with, if it was an engine of its own; older plans record that in their policy only. */
export function plannedJudgeEngine({ policy, inputs }: Pick<Plan, "policy" | "inputs">): Plan["inputs"]["judgeEngine"] {
  if (inputs.judgeEngine !== undefined || policy.kind !== "cascade" || policy.judge.engine === undefined) return inputs.judgeEngine;
  return { model: policy.judge.model, ...policy.judge.engine };
}

/** The situation with the modelled router's scores of the prompts, if that decides where requests start; a trained one's are there already. */
export function readByRouter<Situation extends Pick<PlanningSituation, "workload" | "directStart">>(situation: Situation): Situation {
  const { workload, directStart } = situation;
  if (directStart === undefined || "predictor" in directStart) return situation;
  return {
    ...situation,
    workload: { ...workload, outcomes: withRouterScores(workload.outcomes, { ...directStart, seed: workload.seed }) },
  };
}

import type { Objective, PlanDraft } from "@/solver/plan/plan";
import type { SlackBought } from "@/solver/plan/planSlack";
import { secondsText } from "@/solver/wording/wording";
import { slackLimit } from "../choose/slackChoice";
import { type SlackFigures, slackSays } from "../choose/slackSays";
import type { FixedRouting } from "../explore/fixedDeployment";
import type { BuildPlanInput, NoPlan, Planned } from "./planInput";

/**
 * Plans without a slack.
 *
 * @param recorded the objective that the plan records and whose floor and budget bound its approved ranges.
 */
type PlanFor = (asked: BuildPlanInput, recorded: Objective) => Planned | NoPlan;

/**
 * The plan within a slack: the fastest plan first, then the one of the highest quality, or of the lowest cost, within the latency that the
 * slack allows over it. For the highest quality its routing is then put on the fewest GPUs that keep the limit when simulated whole. Never
 * a plan worse than the fastest, on promised quality and then cost, or on cost alone.
 */
export function planWithSlack(asked: BuildPlanInput, plan: PlanFor): Planned | NoPlan {
  const { objective, slackFromSeconds } = asked;
  const { slack = 0, kind, ...free } = objective;
  const byCost = kind === "cost-under-both";
  const fastest = plan({ ...asked, objective: { ...free, kind: "latency-under-quality" } }, objective);
  if (fastest.outcome === "infeasible") return fastest;
  const knobs = { ...objective, ...(slackFromSeconds === undefined ? {} : { slackFromSeconds }) };
  const limitSeconds = slackLimit(latencyOf(fastest.draft), knobs);
  if (latencyOf(fastest.draft) > limitSeconds) return beyond(limitSeconds, fastest.draft);
  // A budget applies to the latency after the loss of a node where a loss is to be survived: the slack is counted from that too.
  const limit = { ...free, latencyBudgetSeconds: slackLimit(fastest.heldSeconds, knobs) };
  // Why there is no plan is of no interest: there is one already.
  const { explorerUnder: _, ...silent } = asked;
  const keeps = (one: Planned | NoPlan): one is Planned => one.outcome === "plan" && latencyOf(one.draft) <= limitSeconds;
  const better = (one: Planned | NoPlan, than: Planned): one is Planned => {
    if (!keeps(one)) return false;
    const points = byCost ? 0 : promised(one.draft) - promised(than.draft);
    return points > 0 || (points === 0 && one.draft.predictions.costUsdPerRequest < than.draft.predictions.costUsdPerRequest);
  };
  const sought = plan({ ...silent, objective: { ...limit, kind: byCost ? "cost-under-both" : "quality-under-latency" } }, objective);
  const best = better(sought, fastest) ? sought : fastest;
  const fewest = byCost
    ? best
    : plan({ ...silent, fixed: routingOf(asked, best.draft), objective: { ...limit, kind: "cost-under-both" } }, objective);
  const found = better(fewest, best) ? fewest : best;
  const { draft, why } = found;
  // Of several kinds of policies the comparison says what the slack bought.
  const says =
    slackFromSeconds === undefined
      ? [slackSays(objective, { limitSeconds, fastest: figuresOf(fastest.draft), chosen: figuresOf(draft) })]
      : [];
  const { alternatives, alternation } = best.draft.solver;
  return {
    ...found,
    draft: {
      ...draft,
      solver: {
        ...draft.solver,
        why: [...says, ...(best === fastest ? fastest.why.limits : []), ...why.says, ...best.why.alternatives],
        slack: boughtOver(fastest.draft, { slack, limitSeconds }),
        ...(alternation === undefined ? {} : { alternation }),
        alternatives,
      },
    },
  };
}

const beyond = (limitSeconds: number, draft: PlanDraft): NoPlan => ({
  outcome: "infeasible",
  kind: "latency-budget",
  reason: `The fastest cascade at this floor takes ${secondsText(latencyOf(draft))}, over the ${secondsText(limitSeconds)} that the slack allows.`,
  bestQuality: promised(draft),
  bestLatencySeconds: latencyOf(draft),
});

/** The latency that the objective of a plan is about, in seconds. */
function latencyOf({ inputs, predictions }: PlanDraft): number {
  return inputs.objective.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds;
}

/** The quality of a plan that is compared with the floor. */
function promised({ inputs, predictions }: PlanDraft): number {
  return inputs.objective.qualityConfidence === null ? predictions.quality : predictions.qualityBand.low;
}

const gpusOf = ({ deployment }: PlanDraft): number => deployment.reduce((sum, { gpus }) => sum + gpus, 0);

function figuresOf(draft: PlanDraft): SlackFigures {
  const { costUsdPerRequest } = draft.predictions;
  return { latencySeconds: latencyOf(draft), quality: promised(draft), gpus: gpusOf(draft), costUsdPerRequest };
}

function boughtOver(fastest: PlanDraft, asked: Pick<SlackBought, "slack" | "limitSeconds">): SlackBought {
  const { quality, qualityBand, costUsdPerRequest } = fastest.predictions;
  const p95Seconds = latencyOf(fastest);
  return { ...asked, fastest: { quality, qualityLow: qualityBand.low, p95Seconds, gpus: gpusOf(fastest), costUsdPerRequest } };
}

function routingOf({ explorer }: BuildPlanInput, { policy }: PlanDraft): FixedRouting {
  const { models } = explorer.input.sample;
  const stages = policy.stages.map(({ model }) => models.indexOf(model));
  return { stages, thresholds: policy.thresholds, startBelow: policy.directStart?.below ?? 0 };
}

import { ABSENT, formatCount, formatDelta, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import type { Objective, Plan } from "@/solver/plan/plan";
import type { ComparedPolicy } from "@/solver/plan/planSlack";
import { boughtByPlan, slackEffect, slackSentence } from "../settings/prepareSlack";

/** The best plan of one kind of policy, in words. */
export interface PolicyRow {
  readonly kind: ComparedPolicy["policy"];
  readonly name: string;
  readonly models: readonly string[];
  readonly chosen: boolean;
  readonly p95: string;
  /** Mean, and the bound that the floor is held against. */
  readonly quality: string;
  readonly bound: string | null;
  readonly gpus: string;
  readonly cost: string;
  /** Why there is none, or why it is not the plan; empty for the plan itself. */
  readonly reason: string;
}

const names: Readonly<Record<ComparedPolicy["policy"], string>> = {
  cascade: "cascade",
  "cascade-routing": "cascade routing",
  slack: "slack dispatch",
  "one-model": "one model alone",
};

/**
 * Rows of the policies that were compared for a plan, the chosen one first.
 *
 * @param objective with a slack the fastest plan gives way to the highest quality within its limit.
 */
export function preparePolicies(
  policies: readonly ComparedPolicy[],
  objective: Pick<Objective, "kind" | "slack" | "qualityConfidence">,
): readonly PolicyRow[] {
  const chosenOne = policies.find(({ chosen }) => chosen);
  return policies
    .map((own) => ({ own, ...own }))
    .map(({ own, policy, models, quality, qualityLow, p95Seconds, gpus, costUsdPerRequest, chosen, reason }) => ({
      kind: policy,
      name: names[policy],
      models,
      chosen,
      p95: formatSeconds(p95Seconds),
      quality: formatScore(quality),
      bound: qualityLow === null ? null : formatScoreBound(qualityLow),
      gpus: gpus === null ? ABSENT : formatCount(gpus),
      cost: formatUsd(costUsdPerRequest),
      reason: reason ?? (chosen || chosenOne === undefined ? "" : behind(own, chosenOne, objective)),
    }))
    .sort((a, b) => Number(b.chosen) - Number(a.chosen));
}

/** By how much a plan is behind the chosen one on the objective; the cost decides where nothing else does. */
function behind(
  own: ComparedPolicy,
  chosen: ComparedPolicy,
  { kind, slack = 0, qualityConfidence }: Parameters<typeof preparePolicies>[1],
): string {
  const promised = ({ quality, qualityLow }: ComparedPolicy): number => (qualityConfidence === null ? quality : qualityLow) ?? 0;
  const cost = (own.costUsdPerRequest ?? 0) - (chosen.costUsdPerRequest ?? 0);
  const seconds = (own.p95Seconds ?? 0) - (chosen.p95Seconds ?? 0);
  const points = promised(chosen) - promised(own);
  const dearer = cost > 0 ? `${formatUsd(cost)} a request more` : "";
  if (kind === "cost-under-both") return dearer || (seconds > 0 ? `p95 ${formatDelta(seconds, 2)}\u00a0s` : "");
  if (kind === "latency-under-quality" && slack === 0) return seconds > 0 ? `p95 ${formatDelta(seconds, 2)}\u00a0s` : dearer;
  return points > 0 ? `${formatScore(points)} points lower` : dearer;
}

/** What the slack bought against the fastest plan, in a sentence with the limit that it allowed; null where none was asked for. */
export function slackBoughtText(plan: Pick<Plan, "predictions" | "deployment" | "solver" | "inputs">): string | null {
  const { slack } = plan.solver;
  const { objective } = plan.inputs;
  if (slack === undefined) return null;
  const effect = slackEffect({ kind: objective.kind, slack: slack.slack }, boughtByPlan(plan));
  const allowed = `A slack of ${Math.round(100 * slack.slack)}\u00a0% allows a p95 of ${formatSeconds(slack.limitSeconds)}; the fastest plan has ${formatSeconds(slack.fastest.p95Seconds)}.`;
  return effect.kind === "buys"
    ? `${allowed} It bought: ${slackSentence(effect, objective.kind)}.`
    : `${allowed} ${slackSentence(effect, objective.kind)}`;
}

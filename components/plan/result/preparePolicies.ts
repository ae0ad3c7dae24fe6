import { ABSENT, formatCount, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import type { Plan } from "@/solver/plan/plan";
import type { ComparedPolicy, SlackBought } from "@/solver/plan/planSlack";
import { slackEffect, slackSentence } from "../settings/prepareSlack";

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
  slack: "slack dispatch",
  "one-model": "one model alone",
};

/** Rows of the policies that were compared for a plan, the chosen one first. */
export function preparePolicies(policies: readonly ComparedPolicy[]): readonly PolicyRow[] {
  return policies
    .map(({ policy, models, quality, qualityLow, p95Seconds, gpus, costUsdPerRequest, chosen, reason }) => ({
      kind: policy,
      name: names[policy],
      models,
      chosen,
      p95: formatSeconds(p95Seconds),
      quality: formatScore(quality),
      bound: qualityLow === null ? null : formatScoreBound(qualityLow),
      gpus: gpus === null ? ABSENT : formatCount(gpus),
      cost: formatUsd(costUsdPerRequest),
      reason: reason ?? "",
    }))
    .sort((a, b) => Number(b.chosen) - Number(a.chosen));
}

/** What the slack bought against the fastest plan, in a sentence with the limit that it allowed. */
export function slackBoughtText(
  bought: SlackBought,
  { predictions, deployment, inputs: { objective } }: Pick<Plan, "predictions" | "deployment" | "inputs">,
): string {
  const promised = (quality: number, low: number): number => (objective.qualityConfidence === null ? quality : low);
  const { fastest } = bought;
  const effect = slackEffect(
    { kind: objective.kind, slack: bought.slack },
    {
      chosen: {
        quality: promised(predictions.quality, predictions.qualityBand.low),
        latencySeconds: objective.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds,
        gpusTotal: deployment.reduce((sum, { gpus }) => sum + gpus, 0),
        costUsdPerRequest: predictions.costUsdPerRequest,
      },
      fastest: {
        quality: promised(fastest.quality, fastest.qualityLow),
        latencySeconds: fastest.p95Seconds,
        gpusTotal: fastest.gpus,
        costUsdPerRequest: fastest.costUsdPerRequest,
      },
    },
  );
  const allowed = `A slack of ${Math.round(100 * bought.slack)}\u00a0% allows a p95 of ${formatSeconds(bought.limitSeconds)}; the fastest plan has ${formatSeconds(fastest.p95Seconds)}.`;
  return effect.kind === "buys"
    ? `${allowed} It bought: ${slackSentence(effect, objective.kind)}.`
    : `${allowed} ${slackSentence(effect, objective.kind)}`;
}

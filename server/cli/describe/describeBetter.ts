import type { Examination } from "@/server/contracts/studio";
import { type BetterBaseline, betterBaseline, replicaRules } from "@/solver/baselines/betterBaseline";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { secondsText } from "@/solver/wording/wording";

type BaselineFigures = Extract<Examination, { kind: "baselines" }>["systems"][number];

/** Says which baseline is better than a plan on its objective, and how it is planned; empty where none is. Bounds are no baselines to plan. */
export function describeBetter(
  plan: Pick<Plan, "predictions" | "deployment" | "inputs" | "solver" | "policy">,
  examination: Examination,
): string {
  if (examination.kind !== "baselines") return "";
  const { predictions, deployment, solver } = plan;
  const { objective } = plan.inputs;
  const promised = (mean: number, low: number): number => (objective.qualityConfidence === null ? mean : low);
  const own = {
    quality: promised(predictions.quality, predictions.qualityBand.low),
    latency: objective.latency === "end-to-end" ? predictions.p95Seconds : predictions.largestStageP95Seconds,
    cost: predictions.costUsdPerRequest,
    gpus: deployment.reduce((sum, { gpus }) => sum + gpus, 0),
  };
  const attainable = examination.systems.filter((system) => system.attainable);
  const named = attainable.map((system) => ({
    system,
    figures: {
      quality: promised(system.quality, system.qualityLow),
      latency: system.latencySeconds ?? Number.POSITIVE_INFINITY,
      cost: system.costUsdPerRequest,
      gpus: system.gpus,
    },
  }));
  const found = betterBaseline({ ...objective, limitSeconds: solver.slack?.limitSeconds ?? null }, own, named);
  if (found === null) return "";
  const { system, figures } = found.baseline;
  return `\nThe baseline ${system.name} is better than this plan: ${comparison(found.axis, figures, own)}. ${howToPlan(system, plan.policy)}\n`;
}

type Figures = Readonly<Record<BetterBaseline<unknown>["axis"], number>>;

function comparison(axis: BetterBaseline<unknown>["axis"], own: Figures, planned: Figures): string {
  switch (axis) {
    case "latency":
      return `${secondsText(own.latency)} instead of ${secondsText(planned.latency)}`;
    case "quality":
      return `quality ${own.quality.toFixed(1)} instead of ${planned.quality.toFixed(1)}`;
    case "cost":
      return `$${own.cost.toPrecision(3)} a request instead of $${planned.cost.toPrecision(3)}`;
  }
}

/** Where it is planned, as the Plan page offers it. */
function howToPlan({ policy, routing, deployed }: BaselineFigures, planned: PolicyDocument): string {
  if (policy === "cascade-routing") return "Plan it with --policy cascade-routing.";
  if (routing === null) return "";
  if (!isRouting(planned, routing)) return "The Plan page of the studio plans it.";
  return replicaRules(deployed) === null
    ? "It has the thresholds of this plan, with replicas of several shapes of a model: constraints cannot ask for those."
    : "It has the thresholds of this plan on other replicas: the Plan page of the studio plans it with these as constraints.";
}

/** Whether a policy is a cascade with this routing. */
function isRouting(policy: PolicyDocument, { models, thresholds, startBelow = 0 }: NonNullable<BaselineFigures["routing"]>): boolean {
  if (policy.kind !== "cascade") return false;
  const own = [policy.stages.map(({ model }) => model), policy.thresholds, policy.directStart?.below ?? 0];
  return JSON.stringify(own) === JSON.stringify([models, thresholds, startBelow]);
}

import { formatCounted, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import { startText } from "@/solver/plan/directStart";
import type { FrontierPlan, PlottedPolicy } from "./frontierPlans";
import type { NamedBaseline } from "./useBaselines";

/** The plan or baseline under the pointer, in a line. */
export function describePoint(point: FrontierPlan | NamedBaseline): string {
  const quality = "candidate" in point ? point.candidate.quality : point.quality;
  const { quality: held, latency, cost, gpus } = point.figures;
  const figures = [
    `quality ${formatScore(quality)}${held === quality ? "" : `, at least ${formatScoreBound(held)}`}`,
    `p95 ${formatSeconds(latency)}`,
    `${formatUsd(cost)} a request`,
    formatCounted(gpus, "GPU"),
  ];
  return `${"candidate" in point ? policyText(point.policy) : point.name}: ${figures.join(" · ")}`;
}

function policyText(policy: PlottedPolicy): string {
  if (policy.kind === "slack") return `slack dispatch τ ${policy.tau} over ${policy.models.join(", ")}`;
  if (policy.kind === "cascade-routing") return `cascade routing over ${policy.models.join(", ")}`;
  const { models, thresholds, startBelow } = policy.routing;
  const stages = models.map((model, index) => (thresholds[index] === undefined ? model : `${model} below ${thresholds[index]} →`));
  return `${stages.join(" ")}${startBelow === undefined ? "" : `, direct start from ${startText(startBelow)}`}`;
}

import type { Band, ModelDeployment, Plan } from "@/solver/plan/plan";
import { textTable } from "./textTable";

/** A plan as an operator reads it in a terminal. */
export function describePlan(plan: Plan): string {
  const { predictions, solver, policy, deployment } = plan;
  const cascade = policy.stages
    .map(({ model }, stage) => (stage < policy.thresholds.length ? `${model} --below ${policy.thresholds[stage]}--> ` : model))
    .join("");
  const rows = [
    ["model", "GPUs", "replicas", "share", "p95", "utilisation", ""],
    ...deployment.map((model) => {
      const stage = predictions.stages.find((own) => own.model === model.model);
      return [
        model.model,
        String(model.gpus),
        replicas(model),
        percent(stage?.share ?? 0),
        `${seconds(stage?.p95Seconds ?? 0)}${stage?.bands === undefined ? "" : ` (${span(stage.bands.p95Seconds)})`}`,
        percent(stage?.utilisation ?? 0),
        [
          ...(stage?.stability === "near-saturation" ? ["near saturation"] : []),
          ...((stage?.extrapolated ?? []).length > 0 ? ["extrapolated"] : []),
        ].join(", "),
      ];
    }),
  ];
  return [
    `Plan ${plan.id.slice(0, 12)}  ${plan.inputs.workload.name} at ${plan.inputs.workload.requestsPerSecond} requests/s on ${plan.inputs.cluster.name}\n\n`,
    `  ${cascade}\n\n`,
    textTable(rows),
    `\n  quality ${predictions.quality.toFixed(1)} (${predictions.qualityBand.low.toFixed(1)} at ${percent(predictions.qualityBand.confidence)})`,
    `, p95 ${seconds(predictions.p95Seconds)} (${span(predictions.p95Band)} at ${percent(predictions.p95Band.confidence)})`,
    `, $${predictions.costUsdPerRequest.toPrecision(3)} a request\n`,
    `  p95 band: ${predictions.p95Band.basis}\n`,
    `  allocation ${solver.status} for these thresholds (gap ${solver.gap === null ? "unknown" : percent(solver.gap)}; ${solver.engine}); `,
    `${solver.evaluatedThresholds} settings searched in ${solver.seconds.toFixed(2)} s\n`,
    ...predictions.judgeOutlooks.map(
      ({ auc, quality, share, busiestLoad }) =>
        `  were the judge's AUC ${auc.toFixed(2)}: quality ${quality.toFixed(1)}, sent on ${share.slice(1).map(percent).join(", ")}, busiest stage ${busiestLoad > 1 ? "unstable" : percent(busiestLoad)}\n`,
    ),
    ...[...solver.why, ...predictions.notes].map((line) => `  - ${line}\n`),
  ].join("");
}

const replicas = ({ replicas: groups }: ModelDeployment): string =>
  groups.map(({ tp, pp, count }) => `${count} x tp${tp}${pp > 1 ? ` pp${pp}` : ""}`).join(" + ");

const percent = (value: number): string => `${Math.round(value * 100)} %`;
const seconds = (value: number): string => `${value.toPrecision(3)} s`;
const span = ({ low, high }: Pick<Band, "low" | "high">): string => `${seconds(low)} to ${seconds(high)}`;

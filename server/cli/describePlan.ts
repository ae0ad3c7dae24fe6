import type { ModelDeployment, Plan } from "@/solver/plan/plan";
import { textTable } from "./textTable";

/** A plan as an operator reads it in a terminal. */
export function describePlan(plan: Plan): string {
  const { predictions, solver, policy, deployment } = plan;
  const cascade = policy.stages
    .map(({ model }, stage) => (stage < policy.thresholds.length ? `${model} --below ${policy.thresholds[stage]}--> ` : model))
    .join("");
  const rows = [
    ["model", "GPUs", "replicas", "share", "p95", "utilisation"],
    ...deployment.map((model) => {
      const stage = predictions.stages.find((own) => own.model === model.model);
      return [
        model.model,
        String(model.gpus),
        replicas(model),
        percent(stage?.share ?? 0),
        seconds(stage?.p95Seconds ?? 0),
        percent(stage?.utilisation ?? 0),
      ];
    }),
  ];
  return [
    `Plan ${plan.id.slice(0, 12)}  ${plan.inputs.workload.name} at ${plan.inputs.workload.requestsPerSecond} requests/s on ${plan.inputs.cluster.name}\n\n`,
    `  ${cascade}\n\n`,
    textTable(rows),
    `\n  quality ${predictions.quality.toFixed(1)} (${predictions.qualityBand.low.toFixed(1)} at ${percent(predictions.qualityBand.confidence)})`,
    `, p95 ${seconds(predictions.p95Seconds)} (${seconds(predictions.p95Band.low)} to ${seconds(predictions.p95Band.high)})`,
    `, $${predictions.costUsdPerRequest.toPrecision(3)} a request\n`,
    `  ${solver.status}, gap ${solver.gap === null ? "unknown" : percent(solver.gap)}, ${solver.engine}, ${solver.seconds.toFixed(2)} s\n`,
    ...[...solver.why, ...predictions.notes].map((line) => `  - ${line}\n`),
  ].join("");
}

const replicas = ({ replicas: groups }: ModelDeployment): string =>
  groups.map(({ tp, pp, count }) => `${count} x tp${tp}${pp > 1 ? ` pp${pp}` : ""}`).join(" + ");

const percent = (value: number): string => `${Math.round(value * 100)} %`;
const seconds = (value: number): string => `${value.toPrecision(3)} s`;

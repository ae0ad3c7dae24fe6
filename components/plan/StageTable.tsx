import type { Plan } from "@/solver/plan/plan";
import { formatPercent, formatRate, formatSeconds } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Table } from "../ui/Table";

const columns = [
  { key: "model", name: "Stage" },
  { key: "share", name: "Share", numeric: true },
  { key: "rate", name: "Requests", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "mean", name: "Mean", numeric: true },
  { key: "ttft", name: "TTFT p95", numeric: true },
  { key: "utilisation", name: "Utilisation", numeric: true },
  { key: "replicas", name: "Replicas", numeric: true },
] as const;

function replicasText(plan: Plan, model: string): string {
  const deployment = plan.deployment.find((each) => each.model === model);
  return (deployment?.replicas ?? [])
    .map((group) => `${group.count} × ${[`tp ${group.tp}`, group.pp > 1 ? `pp ${group.pp}` : ""].filter(Boolean).join(" ")}`)
    .join(", ");
}

/** What is promised of each stage. */
export function StageTable({ plan, identities }: { readonly plan: Plan; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  return (
    <Table caption="Predictions per stage" columns={columns}>
      {plan.predictions.stages.map((stage) => {
        const identity = identities.get(stage.model);
        return (
          <tr key={stage.model}>
            <td>{identity === undefined ? stage.model : <ModelChip identity={identity} />}</td>
            <td className="text-right">{formatPercent(stage.share)}</td>
            <td className="text-right">{formatRate(stage.requestsPerSecond)}</td>
            <td className="text-right">{formatSeconds(stage.p95Seconds)}</td>
            <td className="text-right">{formatSeconds(stage.meanSeconds)}</td>
            <td className="text-right">{formatSeconds(stage.ttftP95Seconds)}</td>
            <td className="text-right">{formatPercent(stage.utilisation)}</td>
            <td className="text-right whitespace-nowrap">{replicasText(plan, stage.model)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

import { ModelName } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Notes } from "@/components/ui/Notes";
import { Table } from "@/components/ui/Table";
import type { Plan } from "@/solver/plan/plan";
import { DoubtBadge } from "./DoubtBadge";
import { besideStages, prepareStages } from "./prepareStages";

const latencies = [
  { key: "p95", name: "p95", numeric: true },
  { key: "mean", name: "Mean", numeric: true },
  { key: "ttft", name: "TTFT p95", numeric: true },
] as const;

const columns = [
  { key: "model", name: "Stage" },
  { key: "share", name: "Share", numeric: true },
  { key: "rate", name: "Requests", numeric: true },
  ...latencies,
  { key: "utilisation", name: "Utilisation", numeric: true },
  { key: "replicas", name: "Replicas", numeric: true },
] as const;

/** The promises of each stage: shares and latencies with their bands. */
export function StageTable({ plan, identities }: { readonly plan: Plan; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  return (
    <>
      <Table caption="Predictions per stage" columns={columns}>
        {prepareStages(plan).map((stage) => (
          <tr key={stage.model}>
            <td>
              <ModelName model={stage.model} identities={identities} />{" "}
              {stage.extrapolated !== null && <DoubtBadge doubt={stage.extrapolated} />}
            </td>
            <td className="text-right whitespace-nowrap">
              {stage.share}
              {stage.shareBand !== null && <span className="block text-xs text-ink-3">{stage.shareBand}</span>}
            </td>
            <td className="text-right">{stage.requests}</td>
            {latencies.map(({ key }, index) => (
              <td key={key} className="text-right whitespace-nowrap">
                {stage.latencies[index]?.value}
                <span className="block text-xs text-ink-3">{stage.latencies[index]?.band}</span>
              </td>
            ))}
            <td className="text-right">
              {stage.utilisation} {stage.nearSaturation !== null && <DoubtBadge doubt={stage.nearSaturation} />}
            </td>
            <td className="text-right whitespace-nowrap">{stage.replicas}</td>
          </tr>
        ))}
      </Table>
      <Notes items={besideStages(plan)} className="text-sm text-ink-2" />
    </>
  );
}

import { formatCount } from "@/components/ui/format";
import { ModelChip } from "@/components/ui/ModelChip";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { ExpertRow } from "./prepareGate";

const columns = [
  { key: "model", name: "Expert" },
  { key: "accuracy", name: "Right", numeric: true },
  { key: "span", name: "90 % interval" },
  { key: "asked", name: "Recruited for", numeric: true },
  { key: "voted", name: "Vote read", numeric: true },
  { key: "tokens", name: "Mean tokens", numeric: true },
] as const;

/** Experts as the sample knows them. */
export function GateExperts({ rows, models }: { readonly rows: readonly ExpertRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <Table caption="Experts on this sample" columns={columns}>
      {rows.map((row) => {
        const identity = identities.get(row.model);
        return (
          <tr key={row.model}>
            <td>{identity === undefined ? row.model : <ModelChip identity={identity} />}</td>
            <td className="text-right">{row.accuracy}</td>
            <td className="whitespace-nowrap text-ink-3">{row.span}</td>
            <td className="text-right">{formatCount(row.asked)}</td>
            <td className="text-right">{row.voted}</td>
            <td className="text-right">{formatCount(row.meanTokens)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

import { DataTable } from "@/components/ui/DataTable";
import { formatCount } from "@/components/ui/format";
import { ModelName } from "@/components/ui/ModelChip";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { ExpertRow } from "./prepareGate";

/** Experts as the sample knows them. */
export function GateExperts({ rows, models }: { readonly rows: readonly ExpertRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <DataTable
      caption="Experts on this sample"
      rows={rows}
      rowKey={(row) => row.model}
      columns={[
        { name: "Expert", cell: (row) => <ModelName model={row.model} identities={identities} /> },
        { name: "Right", numeric: true, cell: (row) => row.accuracy },
        { name: "90 % interval", className: "whitespace-nowrap text-ink-3", cell: (row) => row.span },
        { name: "Recruited for", numeric: true, cell: (row) => formatCount(row.asked) },
        { name: "Vote read", numeric: true, cell: (row) => row.voted },
        { name: "Mean tokens", numeric: true, cell: (row) => formatCount(row.meanTokens) },
      ]}
    />
  );
}

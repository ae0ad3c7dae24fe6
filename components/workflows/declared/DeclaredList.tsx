import { useMemo } from "react";
import { StateWord } from "@/components/ui/Badge";
import { Table } from "@/components/ui/Table";
import type { DeclaredWorkflow } from "@/server/contracts/studio";
import { declaredRows } from "./prepareDeclaredList";

const columns = [
  { key: "name", name: "Workflow" },
  { key: "agents", name: "Agents", numeric: true },
  { key: "configurations", name: "Configurations", numeric: true },
  { key: "version", name: "Version", numeric: true },
  { key: "origin", name: "Source" },
  { key: "predictors", name: "Predictors" },
] as const;

/** The declared workflows, one of which is displayed. */
export function DeclaredList(props: {
  readonly workflows: readonly DeclaredWorkflow[];
  /** Models of the plan that the counts are based on; null: not known yet. */
  readonly models: readonly string[] | null;
  readonly chosen: string | null;
  readonly onWorkflow: (name: string) => void;
}) {
  const { workflows, models, chosen, onWorkflow } = props;
  const rows = useMemo(() => declaredRows(workflows, models), [workflows, models]);
  return (
    <Table caption="Declared workflows" columns={columns} stacked>
      {rows.map((row) => (
        <tr key={row.name} className={row.name === chosen ? "bg-accent-soft" : ""}>
          <td>
            <button
              type="button"
              aria-pressed={row.name === chosen}
              className="font-medium text-accent underline-offset-2 hover:underline"
              onClick={() => onWorkflow(row.name)}
            >
              {row.name}
            </button>
            {row.title !== "" && <span className="block text-xs text-ink-3">{row.title}</span>}
          </td>
          <td data-name="agents" className="text-right">
            {row.agents}
          </td>
          <td data-name="configurations" className="text-right">
            {row.refused === null ? (
              row.configurations
            ) : (
              <StateWord tone="warn" title={row.refused}>
                none here
              </StateWord>
            )}
            {row.refused !== null && <span className="block text-xs text-warn">{row.refused}</span>}
          </td>
          <td data-name="version" className="text-right">
            {row.version}
          </td>
          <td data-name="source">{row.origin}</td>
          <td data-name="predictors">{row.predictors}</td>
        </tr>
      ))}
    </Table>
  );
}

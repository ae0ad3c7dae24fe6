import { ProgressBar } from "@/components/charts/ProgressBar";
import { DataTable } from "@/components/ui/DataTable";
import { ModelName } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { SessionRow } from "./prepareBatch";

/** Sessions worker by worker: progress, and times measured and predicted. */
export function BatchSessions(props: { readonly rows: readonly SessionRow[]; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  return (
    <DataTable
      caption="Sessions by worker"
      stacked
      rows={props.rows}
      rowKey={(row) => row.key}
      columns={[
        { name: "Worker", className: "whitespace-nowrap", cell: (row) => row.worker },
        { name: "Model", className: "whitespace-nowrap", cell: (row) => <ModelName model={row.model} identities={props.identities} /> },
        {
          name: "State",
          className: "min-w-28",
          cell: (row) => (
            <>
              <span className="text-ink-2">{row.state}</span>
              <ProgressBar label={`${row.worker}, ${row.model}`} done={row.share} failed={0} />
            </>
          ),
        },
        { name: "Answered", numeric: true, cell: (row) => row.answered },
        { name: "Failed", numeric: true, cell: (row) => row.failed },
        { name: "Load and answers, predicted", shortName: "Predicted", numeric: true, cell: (row) => row.predicted },
        { name: "Load and answers, measured", shortName: "Measured", numeric: true, cell: (row) => row.measured },
      ]}
    />
  );
}

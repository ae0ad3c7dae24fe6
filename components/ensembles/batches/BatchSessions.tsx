import { ProgressBar } from "@/components/profiling/ProgressBar";
import { ModelChip } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import type { SessionRow } from "./prepareBatch";

const columns = [
  { key: "worker", name: "Worker" },
  { key: "model", name: "Model" },
  { key: "state", name: "State" },
  { key: "answered", name: "Answered", numeric: true },
  { key: "failed", name: "Failed", numeric: true },
  { key: "predicted", name: "Load and answers, predicted", numeric: true },
  { key: "measured", name: "Load and answers, measured", numeric: true },
] as const;

/** Sessions worker by worker: how far each is, and what it took beside what was predicted. */
export function BatchSessions(props: { readonly rows: readonly SessionRow[]; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  return (
    <Table caption="Sessions by worker" columns={columns} stacked>
      {props.rows.map((row) => {
        const identity = props.identities.get(row.model);
        return (
          <tr key={row.key}>
            <td className="whitespace-nowrap">{row.worker}</td>
            <td className="whitespace-nowrap">{identity === undefined ? row.model : <ModelChip identity={identity} />}</td>
            <td className="min-w-28">
              <span className="text-ink-2">{row.state}</span>
              <ProgressBar label={`${row.worker}, ${row.model}`} done={row.share} failed={0} />
            </td>
            <td data-name="answered" className="text-right whitespace-nowrap">
              {row.answered}
            </td>
            <td data-name="failed" className="text-right">
              {row.failed}
            </td>
            <td data-name="predicted" className="text-right whitespace-nowrap">
              {row.predicted}
            </td>
            <td data-name="measured" className="text-right whitespace-nowrap">
              {row.measured}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

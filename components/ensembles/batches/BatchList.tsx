import { Badge, StateWord } from "@/components/ui/Badge";
import { formatCount, formatDate } from "@/components/ui/format";
import { Table } from "@/components/ui/Table";
import type { BatchSummary } from "@/server/contracts/studio";
import { batchState } from "./prepareBatch";

const columns = [
  { key: "name", name: "Batch" },
  { key: "state", name: "State" },
  { key: "ensemble", name: "Ensemble" },
  { key: "questions", name: "Questions", numeric: true },
  { key: "cluster", name: "Cluster" },
  { key: "started", name: "Started" },
] as const;

/** All batches, newest first; one can be opened. */
export function BatchList(props: {
  readonly batches: readonly BatchSummary[];
  readonly chosen: string | null;
  readonly onBatch: (id: string) => void;
}) {
  return (
    <Table caption="Batches" columns={columns} stacked>
      {props.batches.map((batch) => {
        const state = batchState(batch);
        const chosen = batch.id === props.chosen;
        return (
          <tr key={batch.id} className={chosen ? "bg-accent-soft" : ""}>
            <td>
              <button
                type="button"
                aria-pressed={chosen}
                className="text-left font-medium text-accent underline underline-offset-2 [overflow-wrap:anywhere]"
                onClick={() => props.onBatch(batch.id)}
              >
                {batch.name}
              </button>
            </td>
            <td>
              <span className="inline-flex flex-wrap gap-1">
                <StateWord tone={state.tone}>{state.word}</StateWord>
                {batch.emulated && <Badge tone="hatched">emulated</Badge>}
              </span>
            </td>
            <td data-name="ensemble">{batch.ensemble}</td>
            <td data-name="questions" className="text-right">
              {formatCount(batch.questions)}
            </td>
            <td data-name="cluster">{batch.clusterId}</td>
            <td data-name="started" className="whitespace-nowrap">
              {formatDate(batch.createdAt)}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

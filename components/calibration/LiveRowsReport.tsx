import type { LiveRows } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { Notes } from "../ui/Notes";
import { engineLines, liveSentences } from "./prepareLiveRows";

/** The rows made from a cluster's telemetry, and what was left out and why. */
export function LiveRowsReport({ live }: { readonly live: LiveRows }) {
  return (
    <div className="flex flex-col gap-2" data-testid="live-rows">
      {live.emulated && (
        <p>
          <Badge tone="hatched">emulated</Badge>
        </p>
      )}
      <Notes items={liveSentences(live)} className="text-sm text-ink-2" />
      <DataTable
        caption="Rows by engine"
        rows={engineLines(live)}
        rowKey={(line) => line.id}
        columns={[
          { name: "Engine", className: "whitespace-nowrap", cell: (line) => line.id },
          { name: "Type and version", className: "whitespace-nowrap", cell: (line) => line.engine },
          { name: "Rows", numeric: true, cell: (line) => line.rows },
          { name: "Steady time", numeric: true, cell: (line) => line.steady },
          { name: "Left out", className: "min-w-80", cell: (line) => line.leftOut.map((reason) => <div key={reason}>{reason}</div>) },
        ]}
      />
      <p className="text-xs text-ink-3">
        A row is a minute or more of steady load with at least 100 answered requests. It is compared with a closed loop of the same number
        of requests in flight and of mean lengths. Where requests arrive in bursts, TTFT is longer than this predicts.
      </p>
    </div>
  );
}

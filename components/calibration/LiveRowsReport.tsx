import type { LiveRows } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";
import { type Column, Table } from "../ui/Table";
import { engineLines, liveSentences } from "./prepareLiveRows";

const columns: readonly Column[] = [
  { key: "engine", name: "Engine" },
  { key: "type", name: "Type and version" },
  { key: "rows", name: "Rows", numeric: true },
  { key: "steady", name: "Steady time", numeric: true },
  { key: "left", name: "Left out" },
];

/** What rows were made of a cluster's telemetry, and what was left out and why. */
export function LiveRowsReport({ live }: { readonly live: LiveRows }) {
  return (
    <div className="flex flex-col gap-2" data-testid="live-rows">
      {live.emulated && (
        <p>
          <Badge tone="hatched">emulated</Badge>
        </p>
      )}
      {liveSentences(live).map((sentence) => (
        <p key={sentence} className="text-sm text-ink-2">
          {sentence}
        </p>
      ))}
      <Table caption="Rows by engine" columns={columns}>
        {engineLines(live).map((line) => (
          <tr key={line.id}>
            <td className="whitespace-nowrap">{line.id}</td>
            <td className="whitespace-nowrap">{line.engine}</td>
            <td className="text-right whitespace-nowrap">{line.rows}</td>
            <td className="text-right whitespace-nowrap">{line.steady}</td>
            <td className="min-w-80">
              {line.leftOut.map((reason) => (
                <div key={reason}>{reason}</div>
              ))}
            </td>
          </tr>
        ))}
      </Table>
      <p className="text-xs text-ink-3">
        A row is a minute or more of steady load with at least 100 answered requests. It is compared with a closed loop of the same number
        of requests in flight and of mean lengths. Where requests arrive in bursts, TTFT is longer than this predicts.
      </p>
    </div>
  );
}

import Link from "next/link";
import type { ClusterDrift, ClusterEngine } from "@/server/contracts/studio";
import { buttonClass } from "../ui/Button";
import { formatClock } from "../ui/format";
import { Table } from "../ui/Table";
import { noDriftText } from "./prepareCard";

const columns = [
  { key: "what", name: "What" },
  { key: "desired", name: "The plan in force" },
  { key: "generated", name: "Expected here" },
  { key: "actual", name: "Found here" },
];

/** Differences between the running state and the plan in force. They are shown, and corrected only on request. */
export function DriftTable(props: {
  readonly clusterId: string;
  readonly drift: ClusterDrift;
  readonly engines: readonly ClusterEngine[];
}) {
  const { clusterId, drift, engines } = props;
  if (drift.lines.length === 0) return <p className="text-sm text-ink-2 [overflow-wrap:anywhere]">{noDriftText(engines)}</p>;
  return (
    <div className="flex flex-col gap-3">
      <Table caption="Drift" columns={columns}>
        {drift.lines.map((line) => (
          <tr key={`${line.of}${line.subject}${line.says}`} className="align-top">
            <td className="min-w-40">
              <span className="block font-medium [overflow-wrap:anywhere]">{line.subject}</span>
              <span className="block text-xs text-ink-2 [overflow-wrap:anywhere]">{line.says}</span>
            </td>
            <td className="min-w-36 [overflow-wrap:anywhere]">{line.desired}</td>
            <td className="min-w-36 [overflow-wrap:anywhere]">{line.generated}</td>
            <td className="min-w-36 [overflow-wrap:anywhere]">{line.actual}</td>
          </tr>
        ))}
      </Table>
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-sm text-ink-2">Checked at {formatClock(drift.checkedAt)}. Nothing is corrected automatically.</span>
        {drift.planId !== null && (
          <Link href={`/apply/${drift.planId}?cluster=${encodeURIComponent(clusterId)}`} className={buttonClass("plain")}>
            Apply the plan again
          </Link>
        )}
      </div>
    </div>
  );
}

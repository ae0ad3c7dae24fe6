import { useMemo } from "react";
import type { LabRun } from "@/server/contracts/studio";
import { rateNotes } from "@/solver/lab/rateNotes";
import { Badge } from "../ui/Badge";
import { formatCounted } from "../ui/format";
import { Notes } from "../ui/Notes";
import { type Column, Table } from "../ui/Table";
import type { LabView } from "./labCodec";
import type { SystemMark } from "./prepareSystems";
import { measures, prepareTable, type SortKey } from "./prepareTable";
import { SystemChip } from "./SystemChip";

const words = {
  best: { tone: "accent", title: "No other system has a better mean." },
  level: { tone: "neutral", title: "These seeds do not distinguish it from the best." },
} as const;

/** The figures of every system at one rate. */
export function ResultTable(props: {
  readonly run: LabRun;
  readonly marks: readonly SystemMark[];
  readonly view: { readonly rate: number; readonly against: number; readonly sort: SortKey; readonly descending: boolean };
  readonly write: (change: Partial<LabView>, how: "push" | "replace") => void;
}) {
  const { run, marks, view, write } = props;
  const rows = useMemo(() => prepareTable(run, marks, view), [run, marks, view]);
  const notes = useMemo(() => rateNotes(run.spec, run.cells, view.rate), [run, view.rate]);
  const column = (key: SortKey, name: string, numeric: boolean): Column => ({
    key,
    name,
    numeric,
    order: {
      now: view.sort !== key ? "none" : view.descending ? "descending" : "ascending",
      onAsk: () => write({ sort: key, descending: view.sort === key && !view.descending }, "replace"),
    },
  });
  return (
    <div
      data-testid="lab-table"
      // Names of systems stay in sight while figures scroll.
      className="[&_tr>:first-child]:sticky [&_tr>:first-child]:left-0 [&_tr>:first-child]:z-10 [&_tr>:first-child]:bg-panel"
    >
      <Table
        caption="Systems at the chosen rate: means over seeds, 90 % intervals, and differences to the reference"
        columns={[column("system", "System", false), ...measures.map(({ metric, name }) => column(metric, name, true))]}
      >
        {rows.map((row) => (
          <tr key={row.mark.index} className="align-top">
            <td className="min-w-32 sm:min-w-44">
              <SystemChip mark={row.mark} />
              {row.mark.index === view.against && <p className="text-xs text-ink-3">the reference</p>}
              {row.unserved > 0 && (
                <p className="text-xs text-warn">{formatCounted(row.unserved, "program")} not served completely, left out of means</p>
              )}
            </td>
            {row.cells.map((cell) => (
              <td key={cell.metric} className="text-right">
                <span className="whitespace-nowrap">
                  {cell.value}
                  {cell.within !== null && <span className="text-xs text-ink-3"> {cell.within}</span>}
                </span>{" "}
                {cell.word !== null && <Badge {...words[cell.word]}>{cell.word}</Badge>}
                {cell.difference !== null && (
                  <p className="text-xs text-ink-3">
                    {cell.difference.split(/ (?=\()/).map((part) => (
                      <span key={part} className="whitespace-nowrap">
                        {part}{" "}
                      </span>
                    ))}
                  </p>
                )}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      <Notes items={notes} role="note" className="mt-2 max-w-prose text-sm text-ink-2 [overflow-wrap:anywhere]" />
      <p className="mt-2 text-xs text-ink-3">
        Below each figure is its difference to the reference. <em>Best</em>: no other mean is better; <em>level</em>: these seeds do not
        distinguish it from the best; one seed shows neither. Intervals are Student&apos;s over seeds, cut at 0. <em>Queue time</em> is the
        total time that a program's requests wait to enter a batch, <em>queueing</em> its share of the latency; <em>worst wait</em> is the
        longest of one request. <em>Preempted</em> are requests that an engine evicted for lack of memory, each counted once. Prices are for
        1,000 programs. Figures that an older run did not store are left blank.
      </p>
    </div>
  );
}

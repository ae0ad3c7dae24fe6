"use client";

import { useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { Button } from "@/components/ui/Button";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { Table } from "@/components/ui/Table";
import { MOST_PAIRS, prepareWaitTimes } from "./prepareWaitTimes";
import { useWaited } from "./useWorkflows";

const columns = [
  { key: "waiter", name: "Who waited" },
  { key: "ahead", name: "Who went ahead" },
  { key: "passes", name: "Times", numeric: true },
  { key: "seconds", name: "Waited so", numeric: true },
  { key: "share", name: "Of all waiting", numeric: true },
] as const;

/** Who waited for whom, by the gateway's newest records. */
export function WaitTimesPanel(props: { readonly clusterId: string; readonly all: boolean; readonly onAll: (all: boolean) => void }) {
  const query = useWaited(props.clusterId);
  const picture = useMemo(() => (query.data === undefined ? null : prepareWaitTimes(query.data, props.all)), [query.data, props.all]);
  const status = queryStatus(query, {
    what: "Reading records",
    empty: query.data?.records === 0 && {
      kind: "empty",
      title: "No request yet",
      text: "The studio has no record of a served request.",
    },
  });
  return (
    <Panel title="Who waited for whom">
      <PanelState status={status}>
        {() =>
          picture !== null && (
            <div className="flex flex-col gap-2" data-testid="waited">
              <p className="text-sm text-ink-2">
                {picture.says} {picture.lacks}
              </p>
              {picture.rows.length > 0 && (
                <Table caption="Agents that waited, and agents that were dispatched to the same model meanwhile" columns={columns} stacked>
                  {picture.rows.map((row) => (
                    <tr key={row.key}>
                      <td data-name="waited">{row.waiter}</td>
                      <td data-name="ahead">{row.ahead}</td>
                      <td data-name="times" className="text-right">
                        {row.passes}
                      </td>
                      <td data-name="waited so" className="text-right">
                        {row.seconds}
                      </td>
                      <td data-name="of all waiting" className="text-right">
                        <span className="inline-flex items-center gap-2">
                          <span aria-hidden="true" className="inline-block h-2 w-16 overflow-hidden rounded bg-line">
                            <span className="block h-full bg-ink-3" style={{ width: cssPercent(row.part) }} />
                          </span>
                          {row.share}
                        </span>
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
              {picture.left > 0 && (
                <div>
                  <Button look="quiet" onClick={() => props.onAll(true)}>
                    {picture.left} more pairs
                  </Button>
                </div>
              )}
              {props.all && picture.rows.length > MOST_PAIRS && (
                <div>
                  <Button look="quiet" onClick={() => props.onAll(false)}>
                    Fewer pairs
                  </Button>
                </div>
              )}
              {picture.rows.length > 0 && (
                <p className="text-xs text-ink-3">
                  A wait is split whenever another request is dispatched to the same model: each part counts for that request.
                </p>
              )}
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
}

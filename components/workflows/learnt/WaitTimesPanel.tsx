"use client";

import { useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { MOST_PAIRS, prepareWaitTimes } from "./prepareWaitTimes";
import { useWaited } from "./useWorkflows";

/** Which agents waited for which, from the gateway's newest records. */
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
                <DataTable
                  caption="Agents that waited, and agents that were dispatched to the same model meanwhile"
                  stacked
                  rows={picture.rows}
                  rowKey={(row) => row.key}
                  columns={[
                    { name: "Who waited", labelled: true, cell: (row) => row.waiter },
                    { name: "Who went ahead", labelled: true, cell: (row) => row.ahead },
                    { name: "Times", numeric: true, cell: (row) => row.passes },
                    { name: "Waited so", numeric: true, cell: (row) => row.seconds },
                    {
                      name: "Of all waiting",
                      numeric: true,
                      cell: (row) => (
                        <span className="inline-flex items-center gap-2">
                          <span aria-hidden="true" className="inline-block h-2 w-16 overflow-hidden rounded bg-line">
                            <span className="block h-full bg-ink-3" style={{ width: cssPercent(row.part) }} />
                          </span>
                          {row.share}
                        </span>
                      ),
                    },
                  ]}
                />
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

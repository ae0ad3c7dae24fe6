"use client";

import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { useGatewayAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { ErrorLine } from "../ui/ErrorLine";
import { PermittedButton } from "../ui/PermittedButton";
import { Table } from "../ui/Table";
import type { KnobTurn } from "./prepareKnobs";
import { prepareLastChange } from "./prepareLastChange";

const REFRESH_MS = 5_000;

const columns = [
  { key: "name", name: "Figure" },
  { key: "promised", name: "Forecast", numeric: true },
  { key: "measured", name: "Measured since", numeric: true },
  { key: "verdict", name: "Verdict" },
] as const;

/** The last change of the controls of the plan in force: its forecast beside what is measured since, and the way back. */
export const LastChange = memo(function LastChange(props: {
  readonly clusterId: string;
  readonly etag: string;
  readonly policyHash: string;
  readonly planId: string;
  readonly applying: boolean;
}) {
  const { clusterId, etag, policyHash, planId, applying } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data } = useQuery(trpc.gateway.lastChange.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  const act = useGatewayAct((turn: KnobTurn) => client.gateway.setControls.mutate({ clusterId, etag, reason: "put back", ...turn }));
  if (data === undefined || data === null || data.change.planId !== planId) return null;
  const { says, reason, rows, window, note, back, backText } = prepareLastChange(data, policyHash);
  return (
    <div className="flex flex-col gap-2 text-sm" data-testid="last-change">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-60">
          {says}
          {reason !== "" && <span className="text-ink-2">: {reason}</span>}
        </p>
        {back !== null && (
          <PermittedButton permission="operate" title={backText} disabled={applying || act.isPending} onClick={() => act.mutate(back)}>
            Put back
          </PermittedButton>
        )}
      </div>
      <ErrorLine error={act.error} />
      {rows.length > 0 && (
        <Table caption="Forecast and measured since the change" columns={columns}>
          {rows.map((row) => (
            <tr key={row.name} title={row.reason}>
              <td>{row.name}</td>
              <td className="text-right tabular-nums">{row.promised}</td>
              <td className="text-right tabular-nums">
                {row.measured}
                {row.interval !== "" && <span className="block text-xs text-ink-3">{row.interval}</span>}
              </td>
              <td>
                <StateWord tone={row.tone}>{row.verdict}</StateWord>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p className="text-xs text-ink-3">
        {note === null ? "" : `${note} `}
        {window}
      </p>
    </div>
  );
});

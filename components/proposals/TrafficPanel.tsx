"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { trafficRows, trafficWindow } from "./prepareTraffic";

const REFRESH_MS = 5_000;

const columns = [
  { key: "name", name: "Traffic" },
  { key: "planned", name: "Planned, mean", numeric: true },
  { key: "now", name: "Now, mean", numeric: true },
  { key: "level", name: "Distance from planned", numeric: true },
  { key: "word", name: "Stands" },
] as const;

/** Live traffic beside the traffic that the plan in force was made for; nothing where no plan is in force. */
export function TrafficPanel({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const { data: report } = useQuery(trpc.proposals.traffic.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  if (report === undefined || report === null) return null;
  return (
    <Panel title="Traffic beside planned" aside={<span>{trafficWindow(report)}</span>}>
      <div className="flex flex-col gap-2" data-testid="traffic">
        <Table caption="Traffic beside planned" columns={columns}>
          {trafficRows(report).map((row) => (
            <tr key={row.name}>
              <td className="whitespace-nowrap">{row.name}</td>
              <td className="text-right">{row.planned}</td>
              <td className="text-right">{row.now}</td>
              <td className="text-right">{row.level}</td>
              <td className="text-right">
                <StateWord tone={row.tone}>{row.word}</StateWord>
              </td>
            </tr>
          ))}
        </Table>
        {report.says !== null && <p className="text-sm text-ink-2">Traffic drifted, and no change is proposed. {report.says}</p>}
        <p className="text-xs text-ink-3">
          Whole distributions are compared, not means. A model's lengths and scores are those of the requests that reach it, now and as
          planned; labels, and answers of models that a request did not reach, are not seen.
        </p>
      </div>
    </Panel>
  );
}

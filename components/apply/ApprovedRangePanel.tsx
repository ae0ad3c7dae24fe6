"use client";

import { useMemo } from "react";
import type { Plan } from "@/solver/plan/plan";
import { LineChart } from "../charts/LineChart";
import { LineSwatch } from "../charts/LineSwatch";
import { StateWord } from "../ui/Badge";
import { Table } from "../ui/Table";
import { prepareApprovedRange } from "./prepareApprovedRange";

const tones = { planned: "accent", approved: "good", "needs a new plan": "neutral" } as const;

/** What is approved with a plan: its controls' ranges, on the latency-quality frontier of its replicas. Nothing where it predicts none. */
export function ApprovedRangePanel({ plan }: { readonly plan: Plan }) {
  const range = useMemo(() => prepareApprovedRange(plan), [plan]);
  if (range === null) return null;
  const columns = [
    { key: "slack", name: "Slack" },
    ...(range.kind === "p95" ? [{ key: "thresholds", name: "Thresholds" }] : []),
    { key: "quality", name: "Quality", numeric: true },
    { key: "p95", name: "p95", numeric: true },
    { key: "share", name: `Share of ${range.shareOf}`, numeric: true },
    { key: "state", name: "State" },
  ];
  return (
    <section aria-label="Approved range" data-testid="approved-range" className="flex flex-col gap-2 text-sm">
      <p>{range.says}</p>
      {range.picture !== null && (
        <>
          <LineChart
            picture={range.picture}
            testId="approved-range-chart"
            summary={`Latency and quality of other settings on this plan's replicas. ${range.says} The table below has the figures.`}
          />
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
            <span className="inline-flex items-center gap-1.5">
              <LineSwatch hue="var(--accent)" dashed={false} />A approved
            </span>
            {range.hasBeyond && (
              <span className="inline-flex items-center gap-1.5">
                <LineSwatch hue="var(--ink-3)" dashed />N needs a new plan
              </span>
            )}
            <span>P planned</span>
          </p>
        </>
      )}
      {range.rows.length > 0 && (
        <details>
          <summary className="cursor-pointer text-xs text-ink-3">Each setting</summary>
          <div className="mt-2">
            <Table caption="Settings on this plan's replicas" columns={columns}>
              {range.rows.map((row) => (
                <tr key={row.key}>
                  <td>{row.slack}</td>
                  {range.kind === "p95" && <td>{row.thresholds}</td>}
                  <td className="text-right tabular-nums">{row.quality}</td>
                  <td className="text-right tabular-nums">{row.p95}</td>
                  <td className="text-right tabular-nums">{row.share}</td>
                  <td>
                    <StateWord tone={tones[row.state]}>{row.state}</StateWord>
                  </td>
                </tr>
              ))}
            </Table>
          </div>
        </details>
      )}
    </section>
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { useTRPC } from "@/components/api/trpc";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { formatClock, formatPercent, formatRate, formatScore, formatSeconds } from "@/components/ui/format";
import { Panel } from "@/components/ui/Panel";
import { Table } from "@/components/ui/Table";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import type { Live } from "../stream/live";
import { useLiveFrames } from "../stream/useLiveFrames";
import { type LostCascade, lostCascadeOf, remainingRefresh } from "./prepareLostStages";

const columns = [
  { key: "cascade", name: "Predicted" },
  { key: "quality", name: "Quality", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "capacity", name: "Sustains", numeric: true },
  { key: "refused", name: "Refused", numeric: true },
] as const;

function Prediction({ clusterId, plan, cascade }: { readonly clusterId: string; readonly plan: Plan; readonly cascade: LostCascade }) {
  const trpc = useTRPC();
  const { lost, left, lowerMayAnswer } = cascade;
  const asked = { planId: plan.id, clusterId, lost: lost.map(({ model }) => model), lowerMayAnswer };
  const { data, error } = useQuery(trpc.plans.remaining.queryOptions(asked, remainingRefresh));
  if (error !== null) return <ErrorLine error={error} />;
  if (data === undefined) return <p className="text-sm text-ink-3">Simulating the remaining stages …</p>;
  if (!data.ok) return <p className="text-sm text-ink-2">{data.message}</p>;
  const { requestsPerSecond, basis, whole, remaining } = data.remaining;
  const rows = [
    { name: left.join(" → "), figures: remaining },
    { name: "the whole cascade", figures: whole },
  ];
  return (
    <>
      <Table caption="The remaining cascade compared with the whole one, simulated" columns={columns}>
        {rows.map(({ name, figures }) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="text-right">{formatScore(figures.quality)}</td>
            <td className="text-right whitespace-nowrap">
              {figures.p95Seconds === null ? "overloaded" : formatSeconds(figures.p95Seconds)}
            </td>
            <td className="text-right">{formatRate(figures.capacityPerSecond)}</td>
            <td className="text-right">{formatPercent(figures.p95Seconds === null ? null : figures.refusedShare)}</td>
          </tr>
        ))}
      </Table>
      <p className="text-xs text-ink-3">
        Modelled at {formatRate(requestsPerSecond)}, both with the same requests. {basis}
      </p>
    </>
  );
}

/** The skipped stages of the cascade and since when, and the prediction for the remaining cascade. Nothing while no stage is skipped. */
export const LostStages = memo(function LostStages({ live, plan }: { readonly live: Live; readonly plan: Plan | null }) {
  const frame: LiveFrame | undefined = useLiveFrames(live, (state) => state.frames.at(-1));
  const cascade = frame === undefined ? null : lostCascadeOf(frame);
  if (frame === undefined || cascade === null) return null;
  const { lost, left, says } = cascade;
  return (
    <Panel title="Skipped stages">
      <div className="flex flex-col gap-3" data-testid="lost-stages">
        <ul className="flex list-none flex-col gap-1 text-sm">
          {lost.map(({ model, sinceMs }) => (
            <li key={model}>
              <span className="font-medium">{model}</span> is skipped since{" "}
              <time dateTime={new Date(sinceMs).toISOString()}>{formatClock(new Date(sinceMs).toISOString())}</time>: it has no engine that
              takes work.
            </li>
          ))}
        </ul>
        <p className="text-sm text-ink-2">{says}</p>
        {plan !== null && plan.id === frame.gateway.routing?.planId && left.length > 0 && (
          <Prediction clusterId={frame.clusterId} plan={plan} cascade={cascade} />
        )}
      </div>
    </Panel>
  );
});

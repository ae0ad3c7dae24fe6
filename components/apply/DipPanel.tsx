"use client";

import { useQuery } from "@tanstack/react-query";
import type { ApplyStep, RollOutDip } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { Badge, StateWord } from "../ui/Badge";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { DipChart } from "./DipChart";
import { prepareDip } from "./prepareDip";

const columns = [
  { key: "name", name: "Phase" },
  { key: "lasts", name: "Duration", numeric: true },
  { key: "replicas", name: "Serving replicas" },
  { key: "sustains", name: "Sustains", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "verdict", name: "Compared with the rate" },
] as const;

function Dip({ dip, steps }: { readonly dip: RollOutDip; readonly steps: readonly ApplyStep[] }) {
  const picture = prepareDip(dip, steps);
  return (
    <div className="flex flex-col gap-3" data-testid="dip">
      <p className="flex items-baseline gap-2 text-sm">
        <Badge tone="hatched">modelled</Badge>
        <span className="min-w-0">{dip.says}</span>
      </p>
      {dip.phases.length > 0 && (
        <>
          <DipChart picture={picture} />
          <details>
            <summary className="text-xs text-ink-2">Table and assumptions</summary>
            <Table caption="Sustained rate in each phase of the roll-out, modelled" columns={columns}>
              {picture.stretches.map((stretch) => (
                <tr key={stretch.key}>
                  <td>
                    {stretch.name}
                    {stretch.doing !== "" && <span className="block text-xs text-ink-3">{stretch.doing}</span>}
                  </td>
                  <td className="text-right whitespace-nowrap">{stretch.lasts}</td>
                  <td>{stretch.replicas}</td>
                  <td className="text-right whitespace-nowrap">{stretch.sustains}</td>
                  <td className="text-right">{stretch.p95}</td>
                  <td>
                    <StateWord tone={stretch.verdict.tone}>{stretch.verdict.word}</StateWord>
                  </td>
                </tr>
              ))}
            </Table>
            <ul className="mt-2 list-none text-xs text-ink-3">
              {dip.basis.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
              {picture.stretched && <li>Short phases are drawn wider than their duration.</li>}
            </ul>
          </details>
        </>
      )}
    </div>
  );
}

/**
 * The cost of the roll-out while it runs, simulated before the approval. `held`: the running state is changing, so nothing is simulated.
 */
export function DipPanel(props: {
  readonly planId: string;
  readonly clusterId: string;
  readonly steps: readonly ApplyStep[];
  readonly held: boolean;
}) {
  const { planId, clusterId } = props;
  const trpc = useTRPC();
  const query = useQuery(trpc.plans.capacityDip.queryOptions({ planId, clusterId }, { enabled: !props.held }));
  const { data } = query;
  if (props.held && data === undefined)
    return <p className="text-sm text-ink-3">A roll-out is in progress. Another one can be simulated when it has ended.</p>;
  const refused = data?.ok === false && { kind: "empty" as const, title: "It cannot be simulated", text: data.message };
  return (
    <PanelState status={queryStatus(query, { what: "Simulating the roll-out", empty: refused })}>
      {() => data?.ok === true && <Dip dip={data.dip} steps={props.steps} />}
    </PanelState>
  );
}

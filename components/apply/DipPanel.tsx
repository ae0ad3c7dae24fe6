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
  { key: "name", name: "Stretch" },
  { key: "lasts", name: "Lasts", numeric: true },
  { key: "replicas", name: "Replicas that serve" },
  { key: "sustains", name: "Sustains", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "verdict", name: "Against the rate" },
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
            <summary className="text-xs text-ink-2">As a table, and what it rests on</summary>
            <Table caption="What each stretch of the roll-out sustains, modelled" columns={columns}>
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
              {picture.stretched && <li>Short stretches are drawn wider than they last.</li>}
            </ul>
          </details>
        </>
      )}
    </div>
  );
}

/** What the roll-out costs while it runs, simulated before anybody approves it. `held`: what runs changes just now, so nothing is simulated. */
export function DipPanel(props: {
  readonly planId: string;
  readonly clusterId: string;
  readonly steps: readonly ApplyStep[];
  readonly held: boolean;
}) {
  const { planId, clusterId } = props;
  const trpc = useTRPC();
  const query = useQuery(trpc.plans.dip.queryOptions({ planId, clusterId }, { enabled: !props.held }));
  const { data } = query;
  if (props.held && data === undefined)
    return <p className="text-sm text-ink-3">A roll-out is under way: what another would cost is simulated when it has ended.</p>;
  const refused = data?.ok === false && { kind: "empty" as const, title: "It cannot be simulated", text: data.message };
  return (
    <PanelState status={queryStatus(query, { what: "Simulating the roll-out", empty: refused })}>
      {() => data?.ok === true && <Dip dip={data.dip} steps={props.steps} />}
    </PanelState>
  );
}

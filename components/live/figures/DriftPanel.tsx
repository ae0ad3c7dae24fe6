"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { planNowPath } from "@/components/plan/address/planNowPath";
import { emulatedSays, inputRows, promiseRows, promiseWindowSays, standingOf } from "@/components/proposals/preparePromises";
import { useOpenProposal } from "@/components/proposals/useOpenProposal";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { useClusterLink } from "@/components/shell/useCurrentCluster";
import { Badge, StateWord } from "@/components/ui/Badge";
import { Button, buttonClass } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { Table } from "@/components/ui/Table";
import type { BrokenPromise, PromiseReport } from "@/server/contracts/studio";

const REFRESH_MS = 5_000;

const promiseColumns = [
  { key: "name", name: "Figure" },
  { key: "promised", name: "Predicted", numeric: true },
  { key: "measured", name: "Measured", numeric: true },
  { key: "verdict", name: "Verdict" },
] as const;

const inputColumns = [
  { key: "name", name: "Input" },
  { key: "planned", name: "Planned", numeric: true },
  { key: "now", name: "Now", numeric: true },
  { key: "distance", name: "Distance from planned", numeric: true },
  { key: "word", name: "State", numeric: true },
] as const;

function Tables({ report }: { readonly report: PromiseReport }) {
  return (
    <div className="grid items-start gap-x-8 gap-y-4 xl:grid-cols-2">
      <Table caption="Predicted and measured" columns={promiseColumns}>
        {promiseRows(report).map((row) => (
          <tr key={row.name}>
            <td>{row.name}</td>
            <td className="text-right">{row.promised}</td>
            <td className="text-right">
              <span className="font-medium">{row.measured}</span>
              {row.interval !== "" && <span className="block text-xs whitespace-nowrap text-ink-3">{row.interval}</span>}
            </td>
            <td>
              <StateWord tone={row.tone}>{row.verdict}</StateWord>
              <span className="block text-xs text-ink-3">{row.reason}</span>
            </td>
          </tr>
        ))}
      </Table>
      <Table caption="Inputs of the predictions" columns={inputColumns}>
        {inputRows(report).map((row) => (
          <tr key={row.name}>
            <td>{row.name}</td>
            <td className="text-right">{row.planned}</td>
            <td className="text-right">{row.now}</td>
            <td className="text-right">{row.distance}</td>
            <td className="text-right">
              <StateWord tone={row.tone}>{row.word}</StateWord>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

function Causes({ broken }: { readonly broken: readonly BrokenPromise[] }) {
  if (broken.length === 0) return null;
  return (
    <ul className="flex max-w-4xl list-none flex-col gap-1 text-sm" data-testid="causes">
      {broken.map(({ promise, says, slowEngines }) => (
        <li key={promise}>
          {says}
          {slowEngines && (
            <>
              {" "}
              <ClusterLink to="/calibration">Compare the calibration with measured runs</ClusterLink>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A plan for the current traffic: the open proposal, else a link to the Plan page with the measured values. Applies nothing. */
function Offer({ clusterId, planId }: { readonly clusterId: string; readonly planId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const proposal = useOpenProposal(clusterId);
  const { data: kept } = useQuery(trpc.plans.get.queryOptions({ planId }, { staleTime: Number.POSITIVE_INFINITY }));
  const plan = kept?.plan ?? null;
  const begin = useMutation({
    mutationFn: async () => unwrapOutcome(await client.proposals.toPlan.mutate({ clusterId })).traffic,
    onSuccess: (traffic) => {
      if (plan !== null) router.push(link(planNowPath(plan, traffic)));
    },
  });
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-ink-3">
      {plan?.predictions.mix !== undefined ? (
        <ClusterLink to="/workflows?tab=mix" className={buttonClass()}>
          Plan for a mix
        </ClusterLink>
      ) : proposal === null ? (
        <Button disabled={begin.isPending || plan === null} onClick={() => begin.mutate()}>
          Plan for the current traffic
        </Button>
      ) : (
        <ClusterLink to={`/apply/${proposal.planId}`} className={buttonClass()}>
          Open the proposed plan
        </ClusterLink>
      )}
      <span>This applies nothing.</span>
      <ErrorLine error={begin.error} />
    </div>
  );
}

function Report({ clusterId, report }: { readonly clusterId: string; readonly report: PromiseReport }) {
  const standing = standingOf(report);
  const { broken, drift, notes } = report;
  const emulated = emulatedSays(report);
  return (
    <div className="flex flex-col gap-3" data-testid="traffic">
      <p className="text-sm">{standing.says}</p>
      <Causes broken={broken} />
      {drift.says !== null && <p className="text-sm text-ink-2">Traffic drifted, and no change is proposed. {drift.says}</p>}
      {standing.offers && <Offer clusterId={clusterId} planId={report.planId} />}
      <details open={!standing.calm}>
        <summary className="cursor-pointer text-sm text-ink-3">Each prediction and its inputs</summary>
        <div className="mt-2 flex flex-col gap-3">
          <Tables report={report} />
          <p className="max-w-4xl text-xs text-ink-3">
            {[
              ...(emulated === null ? [] : [emulated.says]),
              ...notes,
              "Verdicts allow for sampling error at 99 %. Means cover the last minutes; the distance compares whole distributions. A model's lengths and scores are those of the requests that reach it, now and as planned.",
              "Utilisation is not compared with the plan: GPUs report busy time, not the load that the planner models.",
            ].join(" ")}
          </p>
        </div>
      </details>
    </div>
  );
}

/** The predictions of the plan in force and the measurements, which input changed, and the offer to plan again. */
export function DriftPanel({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const { data: report, error, refetch } = useQuery(trpc.proposals.promises.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  const status: PanelStatus =
    report === undefined
      ? error === null
        ? { kind: "loading", what: "Comparing predictions with measurements" }
        : { kind: "error", message: error.message, retry: () => void refetch() }
      : report === null
        ? {
            kind: "empty",
            title: "No predictions here",
            text: "Once a plan is in force, this shows its predictions next to measurements.",
          }
        : { kind: "ready" };
  const standing = report === undefined || report === null ? null : standingOf(report);
  const emulated = report === undefined || report === null ? null : emulatedSays(report);
  const aside =
    report === undefined || report === null || standing === null ? undefined : (
      <>
        {report.simulating && <StateWord tone="neutral">simulating</StateWord>}
        <span>{promiseWindowSays(report)}</span>
        {emulated !== null && (
          <Badge tone="hatched" title={emulated.says}>
            {emulated.word}
          </Badge>
        )}
        <StateWord tone={standing.tone}>{standing.word}</StateWord>
      </>
    );
  return (
    <Panel title="Predicted and measured" {...(aside === undefined ? {} : { aside })}>
      <PanelState status={status}>
        {() => (report === undefined || report === null ? null : <Report clusterId={clusterId} report={report} />)}
      </PanelState>
    </Panel>
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { cssPercent } from "@/components/charts/cssPercent";
import { Badge, StateWord } from "@/components/ui/Badge";
import { DataTable } from "@/components/ui/DataTable";
import { Figure } from "@/components/ui/Figure";
import { formatCount, formatPercent } from "@/components/ui/format";
import { ModelChip, ModelName } from "@/components/ui/ModelChip";
import { Notes } from "@/components/ui/Notes";
import { Panel } from "@/components/ui/Panel";
import { ReasonDialog } from "@/components/ui/ReasonDialog";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { ClusterSummary, EnsembleCounts, KeptEnsemble, ServedEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { isAggregateAll } from "@/solver/ensemble/gate/tauText";
import { useGateReport } from "../gate/useGateReport";
import { OnlineCalls } from "./OnlineCalls";
import { OnlineTau } from "./OnlineTau";
import { type PredictedSkips, predictingRequest, predictingSample, predictSkips, unpredicted } from "./predictSkips";
import {
  callRows,
  differsFromKept,
  liveBuckets,
  onlineDoubts,
  onlineExperts,
  onlineFigures,
  onlineTotals,
  outcomeRows,
} from "./prepareOnline";

interface Predicting {
  /** Whether its engines are emulated. */
  readonly emulated: boolean;
  /** The sample that the address names; null: none. */
  readonly named: string | null;
}

/** A sample's predictions for a served ensemble at the tau in force. */
function usePredictedSkips(ensemble: Ensemble, { emulated, named }: Predicting): PredictedSkips {
  const samples = useQuery(useTRPC().ensembles.samples.queryOptions()).data;
  const { experts, tau } = ensemble;
  const sample = samples === undefined || isAggregateAll(tau) ? null : predictingSample(samples, named, { experts, emulated });
  // One report covers every tau, so another tau needs no new query.
  const { data, error, isPlaceholderData } = useGateReport(sample && predictingRequest(ensemble, sample.id));
  if (isAggregateAll(tau)) return unpredicted("at this tau none is skipped");
  if (samples === undefined) return unpredicted("reading samples …");
  if (sample === null) return unpredicted(`no ${emulated ? "modelled or emulated" : "real"} sample has answers of all its experts`);
  if (error !== null) return unpredicted(error.message);
  return data === undefined || isPlaceholderData ? unpredicted("replaying the gate …") : predictSkips(ensemble, sample, data);
}

/** How many of the gateway's hundred latest calls are shown. */
const CALLS_SHOWN = 20;

function Outcomes(props: { readonly label: string; readonly counts: EnsembleCounts; readonly testId: string }) {
  const rows = outcomeRows(props.counts);
  return (
    <ul aria-label={props.label} className="flex list-none flex-wrap gap-x-4 gap-y-1 text-sm" data-testid={props.testId}>
      {rows.length === 0 && <li className="text-ink-3">no request has ended yet</li>}
      {rows.map(({ key, word, tone, count, share }) => (
        <li key={key} className="flex items-center gap-1.5">
          <StateWord tone={tone}>{word}</StateWord> {formatCount(count)} <span className="text-xs text-ink-3">{formatPercent(share)}</span>
        </li>
      ))}
    </ul>
  );
}

function Buckets({ served }: { readonly served: ServedEnsemble }) {
  return (
    <DataTable
      caption="Requests at this tau by how experts voted"
      rows={liveBuckets(served)}
      rowKey={(row) => row.votes}
      columns={[
        {
          name: "Votes",
          className: "whitespace-nowrap",
          cell: (row) => (
            <>
              <strong className="font-medium">{row.votes}</strong> <span className="text-xs text-ink-3">{row.words}</span>
            </>
          ),
        },
        {
          name: "Requests",
          cell: (row) => (
            <span className="flex min-w-28 flex-col gap-0.5">
              <span>
                {formatPercent(row.share)} <span className="text-xs text-ink-3">{formatCount(row.requests)}</span>
              </span>
              <span aria-hidden="true" className="relative block h-2 w-full rounded bg-sunken">
                <span className="absolute h-full rounded bg-line-strong" style={{ width: cssPercent(row.share) }} />
                <span className="absolute h-full rounded bg-accent" style={{ width: cssPercent(row.skippedShare) }} />
              </span>
            </span>
          ),
        },
        { name: "Skipped", numeric: true, cell: (row) => row.skipped },
      ]}
    />
  );
}

/** One ensemble as the gateway serves it: its tau, how requests ended, how experts vote, and the latest calls. */
export function OnlineEnsemble(props: {
  readonly cluster: ClusterSummary;
  readonly served: ServedEnsemble;
  readonly kept: KeptEnsemble | undefined;
  /** Id of the sample that predictions use; null: any. */
  readonly sample: string | null;
}) {
  const { cluster, served } = props;
  const { ensemble, inForce } = served;
  const predicted = usePredictedSkips(ensemble, { emulated: cluster.emulated, named: props.sample });
  const client = useTRPCClient();
  const clusterId = cluster.spec.id;
  const models = [...new Set([...ensemble.experts, ensemble.aggregator.model])];
  const identities = useModelIdentities(models);
  const differs = differsFromKept(ensemble, props.kept);
  const calls = callRows(served, CALLS_SHOWN);
  return (
    <>
      <Panel
        title={ensemble.name}
        aside={
          <>
            {cluster.emulated && <Badge tone="hatched">emulated</Badge>}
            <code className="font-mono">ensemble/{ensemble.name}</code>
            <ReasonDialog
              button="Withdraw"
              title={`Withdraw ${ensemble.name}?`}
              description="New requests to its name are refused; requests in progress finish. Its counts are deleted. The ensemble stays in the studio."
              keep="Keep serving it"
              go="Withdraw it"
              look="danger"
              act={(reason) => client.ensembles.withdraw.mutate({ clusterId, name: ensemble.name, reason })}
            />
          </>
        }
      >
        <div className="flex flex-col gap-4" data-testid="online-ensemble">
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
            {models.map((model) => {
              const identity = identities.get(model);
              return (
                <span key={model} className="inline-flex items-center gap-1.5">
                  {identity !== undefined && <ModelChip identity={identity} />}
                  {model === ensemble.aggregator.model && <span className="text-xs text-ink-3">aggregator</span>}
                </span>
              );
            })}
          </p>
          {/* Above all counts, so that new figures do not move it under the pointer. */}
          <OnlineTau key={ensemble.name} clusterId={clusterId} served={served} />
          <Notes items={[...onlineDoubts(served), ...(differs === null ? [] : [differs])]} className="text-sm text-warn" />
          <dl className="grid grid-cols-2 gap-x-8 gap-y-3 lg:grid-cols-3" data-testid="online-figures">
            {onlineFigures(served, predicted).map((figure) => (
              <Figure key={figure.name} {...figure} />
            ))}
          </dl>
          <Outcomes label="How requests ended at this tau" counts={inForce} testId="online-outcomes" />
          <div className="flex flex-col gap-1 border-t pt-3" data-testid="online-totals">
            <p className="text-sm text-ink-2">{onlineTotals(served)}</p>
            <Outcomes label="How requests ended under every tau" counts={served} testId="online-all-outcomes" />
          </div>
          {cluster.timeScale !== 1 && (
            <p className="text-xs text-ink-3">Seconds are engine seconds, {formatCount(cluster.timeScale)} per second of wall time.</p>
          )}
          {inForce.requests > 0 && <Buckets served={served} />}
        </div>
      </Panel>
      <Panel title="Experts" aside={cluster.emulated ? <Badge tone="hatched">emulated</Badge> : undefined}>
        <DataTable
          caption="Experts under every tau since the counts began"
          rows={onlineExperts(served)}
          rowKey={(row) => row.model}
          columns={[
            { name: "Expert", cell: (row) => <ModelName model={row.model} identities={identities} /> },
            { name: "Asked", numeric: true, cell: (row) => formatCount(row.asked) },
            { name: "Voted", numeric: true, cell: (row) => row.voted },
            { name: "No vote read", numeric: true, cell: (row) => formatCount(row.noVote) },
            { name: "Late", numeric: true, cell: (row) => formatCount(row.late) },
            { name: "Not waited for", numeric: true, cell: (row) => formatCount(row.notNeeded) },
            { name: "Failed", numeric: true, cell: (row) => formatCount(row.failed) },
            { name: "With the majority", numeric: true, cell: (row) => row.inMajority },
          ]}
        />
      </Panel>
      <Panel title="Latest calls" aside={calls.length === 0 ? undefined : `the newest ${calls.length} of ${formatCount(served.requests)}`}>
        {calls.length === 0 ? (
          <p className="text-sm text-ink-3">No request since the gateway started: send one as shown below.</p>
        ) : (
          <OnlineCalls rows={calls} models={models} />
        )}
      </Panel>
    </>
  );
}

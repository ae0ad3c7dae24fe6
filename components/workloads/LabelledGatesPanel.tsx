"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useMemo } from "react";
import type { ClusterSummary, WorkloadSummary } from "@/server/contracts/studio";
import { usePlanAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { LineChart } from "../charts/LineChart";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusterLink, useCurrentCluster } from "../shell/useCurrentCluster";
import { StateWord } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { ErrorLine } from "../ui/ErrorLine";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { type LabelledDiagram, type LabelledView, prepareLabelledGates } from "./prepareLabelledGates";

const ABOUT =
  "F: scores in force. N: scores by the new calibration, each answer by a fit that left it out. On the diagonal a score is the quality.";

function Diagram({ title, picture, rows }: LabelledDiagram) {
  return (
    <section className="min-w-0">
      <h3 className="text-sm font-medium">{title}</h3>
      <p className="mb-2 text-xs text-ink-3">{ABOUT}</p>
      {picture !== null && (
        <LineChart
          picture={picture}
          testId="labelled-reliability"
          summary={`Reliability of ${title}. ${ABOUT} The table below has the figures.`}
        />
      )}
      <details className="mt-2 text-sm">
        <summary className="cursor-pointer text-xs text-ink-2">View as a table</summary>
        <DataTable
          caption={`Reliability of ${title}, by labels of served answers`}
          rows={rows}
          rowKey={({ scores }) => scores}
          columns={[
            { name: "Scores", className: "whitespace-nowrap", cell: ({ scores }) => scores },
            { name: "In force: answers", numeric: true, cell: ({ raw }) => raw.answers },
            { name: "mean score, in force", numeric: true, cell: ({ raw }) => raw.score },
            { name: "quality, in force", numeric: true, cell: ({ raw }) => raw.quality },
            { name: "New: answers", numeric: true, cell: ({ calibrated }) => calibrated.answers },
            { name: "mean score, new", numeric: true, cell: ({ calibrated }) => calibrated.score },
            { name: "quality, new", numeric: true, cell: ({ calibrated }) => calibrated.quality },
          ]}
        />
      </details>
    </section>
  );
}

/** Saves the plan in force with the new calibrations, and opens it where it is approved and applied. */
function Offer({ clusterId, planId }: { readonly clusterId: string; readonly planId: string }) {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const make = usePlanAct(client.labels.recalibrate.mutate, ({ id }: { readonly id: string }) => router.push(link(`/apply/${id}`)));
  return (
    <div className="flex flex-wrap items-center gap-2">
      <PermittedButton permission="prepare" look="primary" disabled={make.isPending} onClick={() => make.mutate({ clusterId, planId })}>
        Save a plan with the new calibrations
      </PermittedButton>
      <span className="text-xs text-ink-3">
        The gateway goes on with the calibrations in force until that plan is approved and applied.
      </span>
      <ErrorLine error={make.error} />
    </div>
  );
}

function Gates({ view, clusterId }: { readonly view: Extract<LabelledView, { kind: "gates" }>; readonly clusterId: string }) {
  const { rows, diagrams, missing, planId } = view;
  return (
    <div className="flex flex-col gap-4">
      <DataTable
        caption="Gates in force, by labels of the answers that they scored"
        stacked
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          {
            name: "Gate",
            className: "max-sm:w-full",
            cell: ({ model, gate }) => (
              <>
                <span className="font-medium">{gate}</span> <span className="block text-xs text-ink-3">answers of {model}</span>
              </>
            ),
          },
          { name: "New labels", numeric: true, cell: ({ labels }) => labels },
          { name: "ECE, in force", numeric: true, cell: ({ before }) => before },
          { name: "ECE, new", numeric: true, cell: ({ after }) => after },
          { name: "Fall of the Brier score", numeric: true, cell: ({ gain }) => gain },
          { name: "Labelled answers accepted", numeric: true, cell: ({ accepted }) => accepted },
          { name: "Verdict", labelled: true, cell: ({ verdict }) => <StateWord tone={verdict.tone}>{verdict.text}</StateWord> },
        ]}
      />
      {missing === null ? <Offer clusterId={clusterId} planId={planId} /> : <p className="text-sm text-ink-2">{missing}</p>}
      {diagrams.length > 0 && (
        <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
          {diagrams.map((diagram) => (
            <Diagram {...diagram} key={diagram.key} />
          ))}
        </div>
      )}
      <p className="text-xs text-ink-3">
        Label answers in their records on <ClusterLink to="/live">Live</ClusterLink>, or many at once with <code>weir gates label</code>.
        Labels under earlier plans count where the gate differed in its calibration alone. Below and above all labelled scores the
        calibration in force stays.
      </p>
    </div>
  );
}

function statusOf(view: LabelledView | null, status: PanelStatus): PanelStatus {
  if (view?.kind !== "none") return status;
  const { title, text, workloadId } = view;
  const action = workloadId !== null && <ClusterLink to={`/workloads/${workloadId}?tab=gates`}>Open that workload</ClusterLink>;
  return { kind: "empty", title, text, action };
}

function OnCluster({ summary, cluster }: { readonly summary: WorkloadSummary; readonly cluster: ClusterSummary }) {
  const { id: clusterId, name } = cluster.spec;
  const query = useQuery(useTRPC().labels.gates.queryOptions({ clusterId }));
  const view = useMemo(
    () => (query.data === undefined ? null : prepareLabelledGates(query.data, summary, name)),
    [query.data, summary, name],
  );
  return (
    <Panel title="Gates in force, by labels of served answers" aside={<span>{name}</span>}>
      <PanelState status={statusOf(view, queryStatus(query, { what: "Reading labels of served answers" }))}>
        {() => view?.kind === "gates" && <Gates view={view} clusterId={clusterId} />}
      </PanelState>
    </Panel>
  );
}

/** Labels of answers that the current cluster's gateway served, and the calibrations that follow from them; nothing without a cluster. */
export function LabelledGatesPanel({ summary }: { readonly summary: WorkloadSummary }) {
  const cluster = useCurrentCluster();
  return cluster !== null && <OnCluster summary={summary} cluster={cluster} />;
}

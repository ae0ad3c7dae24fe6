"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { ProgressBar } from "@/components/charts/ProgressBar";
import { Badge, StateWord } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { DownloadButton } from "@/components/ui/DownloadButton";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { Figure } from "@/components/ui/Figure";
import { formatDate } from "@/components/ui/format";
import { NoteList } from "@/components/ui/Notes";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { Batch, BatchSummary } from "@/server/contracts/studio";
import { GanttChart } from "../gantt/GanttChart";
import { BatchActions } from "./BatchActions";
import { BatchSessions } from "./BatchSessions";
import { ExportBatch } from "./ExportBatch";
import { askedText, batchRefreshMs, batchState, prepareBatch } from "./prepareBatch";

/** Turns the experts' answers into a sample on which a gate can be chosen. */
function ToSample({ batch, onSample }: { readonly batch: Batch; readonly onSample: (id: string) => void }) {
  const client = useTRPCClient();
  const keep = useEnsembleAct(client.ensembles.keepSample.mutate, ({ id }) => onSample(id));
  const { skipped, toAggregate } = batch.progress.questions;
  const isOver = batch.state === "done" || batch.state === "stopped";
  // Accuracy counts decided questions only; whether the others have references is reported when the sample is made.
  if (!isOver || skipped + toAggregate === 0) return null;
  return (
    <>
      <Button
        disabled={keep.isPending}
        onClick={() => keep.mutate({ name: `Answers of ${batch.name}`.slice(0, 80), source: { kind: "batch", batchId: batch.id } })}
      >
        {keep.isPending ? "Creating …" : "Make a sample of its answers"}
      </Button>
      <ErrorLine error={keep.error} />
    </>
  );
}

function PauseLine({ pause }: { readonly pause: NonNullable<BatchSummary["pause"]> }) {
  return (
    <p
      className={`rounded-md px-3 py-2 text-sm [overflow-wrap:anywhere] ${pause.kind === "problem" ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn"}`}
    >
      <strong className="font-semibold">Paused since {formatDate(pause.since)}.</strong> {pause.reason}
    </p>
  );
}

function Opened(props: { readonly batch: Batch; readonly onSample: (id: string) => void; readonly onRemoved: () => void }) {
  const { batch } = props;
  const { document, pause } = batch;
  const identities = useModelIdentities([...new Set([...document.experts, document.aggregator.model])]);
  const picture = useMemo(() => prepareBatch(batch, identities), [batch, identities]);
  const state = batchState(batch);
  const { gantt, accuracy } = picture;
  return (
    <div className="flex flex-col gap-4">
      <Panel
        title={batch.name}
        aside={
          <>
            {picture.left !== null && <span data-testid="batch-left">{picture.left}</span>}
            {batch.emulated && <Badge tone="hatched">emulated</Badge>}
            <span role="status" data-testid="batch-state">
              <StateWord tone={state.tone}>{state.word}</StateWord>
            </span>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p className="min-w-0 text-sm text-ink-2 [overflow-wrap:anywhere]">{askedText(batch, formatDate)}</p>
            <BatchActions batch={batch} onRemoved={props.onRemoved} />
          </div>
          {pause !== null && <PauseLine pause={pause} />}
          <div className="flex flex-col gap-1">
            <p className="text-sm" data-testid="batch-progress">
              {picture.says}
            </p>
            <ProgressBar label="Answers of experts" done={picture.share} failed={picture.failedShare} />
          </div>
          <dl className="grid grid-cols-2 gap-x-8 gap-y-3 sm:grid-cols-4" data-testid="batch-figures">
            {accuracy !== null && <Figure {...accuracy} />}
            {picture.figures.map((figure) => (
              <Figure key={figure.name} {...figure} />
            ))}
          </dl>
          {picture.failures.length > 0 && (
            <section aria-label="Most frequent failures">
              <h3 className="mb-1 text-xs text-ink-3">Most frequent failures</h3>
              <ul className="list-none text-sm">
                {picture.failures.map(({ text, calls }) => (
                  <li key={text} className="flex gap-3 border-b py-1 last:border-0">
                    <span className="w-14 shrink-0 text-right text-ink-2">{calls} ×</span>
                    <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <div className="flex flex-wrap items-center gap-3 border-t pt-3">
            <DownloadButton path={`/api/batches/${encodeURIComponent(batch.id)}/results`}>Download results</DownloadButton>
            <ToSample batch={batch} onSample={props.onSample} />
            <ExportBatch of={{ batchId: batch.id }} />
          </div>
        </div>
      </Panel>
      <Panel title="Workers">
        <div className="flex flex-col gap-5">
          {gantt !== null && <GanttChart picture={gantt} caption={gantt.drawings.map(({ says }) => says).join(" ")} />}
          <BatchSessions rows={picture.rows} identities={identities} />
          <p className="text-xs text-ink-3">
            Sessions are drawn one after another, without pauses between them, in engine seconds. {batch.aggregatorPredicted.says}
          </p>
        </div>
      </Panel>
      {batch.notes.length > 0 && <NoteList label="Notes" items={batch.notes} className="list-disc pl-5 text-xs text-ink-3" />}
    </div>
  );
}

/** One batch: its progress worker by worker, and its results. */
export function BatchPanel(props: {
  readonly id: string;
  /** From the list; null: the list does not have it, or is not read yet. */
  readonly listed: BatchSummary | null;
  readonly onSample: (id: string) => void;
  readonly onRemoved: () => void;
}) {
  const { id, listed } = props;
  const trpc = useTRPC();
  const query = useQuery(
    trpc.batches.get.queryOptions({ id }, { staleTime: 0, refetchInterval: ({ state }) => batchRefreshMs(state.data) }),
  );
  const batch = query.data ?? null;
  const status = queryStatus(query, {
    what: "Reading the batch",
    empty: query.data === null && { kind: "empty", title: "Batch not found", text: "It was removed, or its address is incomplete." },
  });
  // A batch that cannot be read can still be stopped or removed.
  if (status.kind === "error" && listed !== null)
    return (
      <Panel title={listed.name}>
        <div className="flex flex-col gap-3">
          <PanelState status={status}>{() => null}</PanelState>
          {listed.pause !== null && <PauseLine pause={listed.pause} />}
          <BatchActions batch={listed} onRemoved={props.onRemoved} />
        </div>
      </Panel>
    );
  return (
    <PanelState status={status}>
      {() => batch !== null && <Opened key={batch.id} batch={batch} onSample={props.onSample} onRemoved={props.onRemoved} />}
    </PanelState>
  );
}

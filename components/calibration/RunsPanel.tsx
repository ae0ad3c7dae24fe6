"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { LiveSpan } from "@/server/contracts/studio";
import { useAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField } from "../ui/Field";
import { FilePicker } from "../ui/FilePicker";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { saveText } from "../ui/saveText";
import { uploadServing } from "../ui/uploadFile";
import { LiveRowsReport } from "./LiveRowsReport";
import { fileStem } from "./prepareLiveRows";

const spans: readonly { readonly value: LiveSpan; readonly text: string }[] = [
  { value: "hour", text: "last hour" },
  { value: "day", text: "last day" },
  { value: "week", text: "last week" },
];

/** Rows of a running cluster: which, and how far back. */
function FromCluster({ onTable }: { readonly onTable: (uploadId: string) => void }) {
  const client = useTRPCClient();
  const current = useCurrentCluster();
  const { data } = useClusters();
  const clusters = (data ?? []).filter(({ health }) => health.state !== "not-connected");
  const [chosen, setChosen] = useState<string | null>(null);
  const [span, setSpan] = useState<LiveSpan>("hour");
  const clusterId = clusters.find(({ spec }) => spec.id === (chosen ?? current?.spec.id))?.spec.id ?? clusters[0]?.spec.id ?? null;
  const take = useAct(
    (id: string) => client.calibrations.calibrateFromLive.mutate({ clusterId: id, span }),
    ({ uploadId }) => uploadId !== null && onTable(uploadId),
  );
  if (data === undefined) return null;
  if (clusterId === null) return <p className="text-sm text-ink-3">No cluster is connected: there is no telemetry to take rows from.</p>;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          label="From a running cluster"
          value={clusterId}
          options={clusters.map(({ spec }) => ({ value: spec.id, text: spec.name }))}
          onChange={setChosen}
        />
        <SelectField label="Range" value={span} options={spans} onChange={setSpan} />
        <PermittedButton permission="prepare" disabled={take.isPending} onClick={() => take.mutate(clusterId)}>
          Take rows
        </PermittedButton>
        {take.isPending && (
          <p role="status" className="flex min-h-8 items-center text-sm text-ink-2">
            Reading its telemetry …
          </p>
        )}
      </div>
      <ErrorLine error={take.error} />
      {take.data?.uploadId === null && <LiveRowsReport live={take.data.live} />}
    </div>
  );
}

/** What a table from a cluster was made of, and its download. */
function Taken({ uploadId }: { readonly uploadId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const live = useQuery(trpc.calibrations.liveRows.queryOptions({ uploadId }));
  const download = useMutation({
    mutationFn: async () => {
      const table = await client.calibrations.table.query({ uploadId });
      if (table === null) throw new Error("The table is no longer stored: take the rows again.");
      saveText(`${fileStem(table.name)}.csv`, table.text);
    },
  });
  if (!live.data) return null;
  return (
    <div className="mt-4 flex flex-col gap-3 border-t pt-4">
      <LiveRowsReport live={live.data} />
      <div className="flex items-center gap-3">
        <Button disabled={download.isPending} onClick={() => download.mutate()}>
          Download the rows
        </Button>
        <span className="text-xs text-ink-3">CSV with units in the header. Uploading it gives the same rows.</span>
      </div>
      <ErrorLine error={download.error} />
    </div>
  );
}

/** Selects a table of the user's own runs and shows its content. */
export function RunsPanel(props: {
  /** The table that is open; null: none. */
  readonly uploadId: string | null;
  readonly note: string | null;
  readonly onTable: (uploadId: string) => void;
  readonly onLeave: () => void;
}) {
  const { uploadId, note, onTable, onLeave } = props;
  const upload = useMutation({ mutationFn: uploadServing, onSuccess: (sent) => onTable(sent.uploadId) });
  return (
    <Panel title="Your own runs" aside={uploadId !== null && <Button onClick={onLeave}>Close the table</Button>}>
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
        <FilePicker
          label="Measured runs"
          hint="CSV, up to 64 MB and 5,000 rows: engine, model, gpu, tp, isl, osl, concurrency, precision, ttft_ms, tpot_ms. Each run is simulated as the closed loop it was."
          sending={upload}
          note={note}
          onFile={(file) => upload.mutate(file)}
        />
        <FromCluster onTable={onTable} />
      </div>
      {uploadId === null ? (
        <p className="mt-3 text-sm text-ink-3">
          Weir ships no measured runs. Without any, this page shows the errors of the fits and no chart.
        </p>
      ) : (
        <Taken key={uploadId} uploadId={uploadId} />
      )}
    </Panel>
  );
}

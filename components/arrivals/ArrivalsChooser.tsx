"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ArrivalsChoice } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useAllowed, useHindrance } from "../api/useMe";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { SelectField } from "../ui/Field";
import { FilePicker } from "../ui/FilePicker";
import { formatCounted, formatSeconds } from "../ui/format";
import { lockedStatus } from "../ui/lockedStatus";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { uploadArrivals } from "../ui/uploadFile";
import { useDebounced } from "../ui/useDebounced";
import { CounterSpan, lastDay } from "./CounterSpan";
import { HourBars } from "./HourBars";
import { PreviewPanel } from "./PreviewPanel";
import { type ChosenArrivals, hasClock, previewProblem } from "./prepareArrivals";
import { SegmentList } from "./SegmentList";

export { type ChosenArrivals, startingArrivals } from "./prepareArrivals";

type Kind = ArrivalsChoice["kind"];

const kinds: readonly { readonly value: Kind; readonly text: string }[] = [
  { value: "generated", text: "Bursty, generated" },
  { value: "gateway", text: "Recent requests of a gateway" },
  { value: "counters", text: "Request rates from a cluster’s counters" },
  { value: "upload", text: "A trace (CSV)" },
  { value: "hours", text: "Rates by hour of the day, entered by hand" },
  { value: "workload", text: "Arrivals of another workload" },
];

/** Long enough to type a number, short enough to feel immediate. */
const STILL_MS = 400;
const FLAT_DAY: readonly number[] = Array.from({ length: 24 }, () => 1);

/**
 * Chooses arrivals and previews them. `onReady` reports whether they can be used: false while they are being chosen or previewed, and
 * where the studio refuses them.
 */
export function ArrivalsChooser(props: {
  readonly value: ChosenArrivals;
  readonly onChange: (value: ChosenArrivals) => void;
  readonly onReady: (ready: boolean) => void;
}) {
  const { value, onChange, onReady } = props;
  /** The current choice, even if its file or workload is not named yet. */
  const [kind, setKind] = useState<Kind>(value.arrivals.kind);
  const client = useTRPCClient();
  const hindrance = useHindrance("prepare");
  const mayAsk = useAllowed("prepare");
  const still = useDebounced(value, STILL_MS);
  const isNamed = kind === value.arrivals.kind;
  const preview = useQuery({
    queryKey: ["arrivals", "preview", still],
    queryFn: async () => unwrapOutcome(await client.arrivals.preview.mutate(asAsked(still))).preview,
    enabled: isNamed && still.arrivals.kind === kind && mayAsk,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
  });
  const isShown = isNamed && still === value && preview.data !== undefined && !preview.isPlaceholderData && preview.error === null;
  const ready = isShown && previewProblem(preview.data) === null;
  useEffect(() => onReady(ready), [ready, onReady]);

  const take = (arrivals: ArrivalsChoice): void =>
    onChange({ ...value, arrivals, segments: hasClock(arrivals.kind) ? value.segments : [] });
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <SelectField
        label="Arrivals"
        value={kind}
        options={kinds}
        onChange={(next) => {
          const chosen = kinds.find((one) => one.value === next)?.value ?? "generated";
          setKind(chosen);
          if (chosen === "generated") take({ kind: chosen });
          if (chosen === "hours") take({ kind: chosen, requestsPerSecond: FLAT_DAY });
        }}
      />
      <Source kind={kind} arrivals={value.arrivals} onChange={take} />
      {hasClock(kind) && isNamed && (
        <SegmentList
          segments={value.segments}
          timeZone={kind === "hours" ? null : value.timeZone}
          onChange={(change) => onChange({ ...value, ...change })}
        />
      )}
      {isNamed && (
        <PanelState status={hindrance === null ? queryStatus(preview, { what: "Reading the arrivals" }) : lockedStatus(hindrance)}>
          {() => preview.data !== undefined && <PreviewPanel preview={preview.data} byHour={kind !== "hours"} />}
        </PanelState>
      )}
    </div>
  );
}

const asAsked = ({ arrivals, segments, timeZone }: ChosenArrivals) => ({ arrivals, segments: [...segments], timeZone });

/** Further fields of a kind of arrivals. */
function Source(props: { readonly kind: Kind; readonly arrivals: ArrivalsChoice; readonly onChange: (arrivals: ArrivalsChoice) => void }) {
  const { kind, arrivals, onChange } = props;
  switch (kind) {
    case "generated":
      return null;
    case "upload":
      return <TraceFile onChange={onChange} />;
    case "hours":
      return (
        arrivals.kind === "hours" && (
          <HourBars rates={arrivals.requestsPerSecond} onChange={(rates) => onChange({ kind: "hours", requestsPerSecond: [...rates] })} />
        )
      );
    case "workload":
      return <OtherWorkload workloadId={arrivals.kind === "workload" ? arrivals.workloadId : ""} onChange={onChange} />;
    case "gateway":
    case "counters":
      return <OfCluster kind={kind} arrivals={arrivals} onChange={onChange} />;
  }
}

function TraceFile({ onChange }: { readonly onChange: (arrivals: ArrivalsChoice) => void }) {
  const upload = useMutation({
    mutationFn: uploadArrivals,
    onSuccess: ({ uploadId }) => onChange({ kind: "upload", uploadId }),
  });
  const survey = upload.data?.survey;
  return (
    <FilePicker
      label="Trace"
      hint="CSV with a column TIMESTAMP, such as 2023-11-16 18:15:46.6805900, sorted; times without an offset are UTC."
      sending={upload}
      note={survey === undefined ? null : `${formatCounted(survey.arrivals, "arrival")} over ${formatSeconds(survey.spanSeconds)}.`}
      onFile={(file) => upload.mutate(file)}
    />
  );
}

function OtherWorkload(props: { readonly workloadId: string; readonly onChange: (arrivals: ArrivalsChoice) => void }) {
  const workloads = useQuery(useTRPC().workloads.list.queryOptions());
  const options = (workloads.data ?? []).map(({ id, name, version }) => ({
    value: id,
    text: version > 1 ? `${name}, version ${version}` : name,
  }));
  return (
    <PanelState status={queryStatus(workloads, { what: "Reading workloads" })}>
      {() => (
        <SelectField
          label="Workload"
          value={props.workloadId}
          options={[{ value: "", text: "Choose one" }, ...options]}
          onChange={(workloadId) => workloadId !== "" && props.onChange({ kind: "workload", workloadId })}
        />
      )}
    </PanelState>
  );
}

function OfCluster(props: {
  readonly kind: "gateway" | "counters";
  readonly arrivals: ArrivalsChoice;
  readonly onChange: (arrivals: ArrivalsChoice) => void;
}) {
  const { kind, arrivals, onChange } = props;
  const clusters = (useClusters().data ?? []).filter(({ health }) => health.state !== "not-connected");
  const current = useCurrentCluster();
  const chosen = arrivals.kind === kind ? arrivals.clusterId : "";
  const span = arrivals.kind === "counters" ? arrivals : lastDay();
  const take = (clusterId: string): void =>
    onChange(kind === "gateway" ? { kind, clusterId } : { kind, clusterId, fromMs: span.fromMs, toMs: span.toMs });
  const first = clusters.some(({ spec }) => spec.id === current?.spec.id) ? current?.spec.id : clusters[0]?.spec.id;
  useEffect(() => {
    if (chosen === "" && first !== undefined) take(first);
    // The page's cluster is copied once, when the kind is chosen.
  }, [chosen, first, kind]);
  if (clusters.length === 0)
    return <p className="text-sm text-ink-2">The studio is not connected to any cluster, so it has no traffic data.</p>;
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Cluster"
        value={chosen}
        options={clusters.map(({ spec }) => ({ value: spec.id, text: spec.name }))}
        onChange={take}
      />
      {arrivals.kind === "counters" && kind === "counters" && (
        <CounterSpan span={arrivals} onChange={({ fromMs, toMs }) => onChange({ ...arrivals, fromMs, toMs })} />
      )}
    </div>
  );
}

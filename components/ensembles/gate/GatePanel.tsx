"use client";

import { useMemo, useState } from "react";
import { Badge } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { Figure } from "@/components/ui/Figure";
import { formatCount } from "@/components/ui/format";
import { ModelName } from "@/components/ui/ModelChip";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary, GateReport, KeptEnsemble } from "@/server/contracts/studio";
import { ensemblesCodec } from "../address/ensemblesCodec";
import { useServed } from "../address/useServed";
import { BucketList } from "./BucketList";
import { gateStatus } from "./gateStatus";
import { agreementSays, prepareBuckets } from "./prepareBuckets";
import { aloneSays, type ExpertRow, expertRows, gateFigures, gateStops, recommendation, stopOf } from "./prepareGate";
import type { GateChoice } from "./prepareGateChoice";
import { originWords } from "./prepareSamples";
import { prepareTauChart } from "./prepareTauChart";
import { prepareTauUse } from "./prepareTauUse";
import { TauChart } from "./TauChart";
import { TauDialog } from "./TauDialog";
import { TauSlider } from "./TauSlider";
import type { useGateReport } from "./useGateReport";

/** The experts' figures in the sample. */
function GateExperts({ rows, models }: { readonly rows: readonly ExpertRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <DataTable
      caption="Experts on this sample"
      rows={rows}
      rowKey={(row) => row.model}
      columns={[
        { name: "Expert", cell: (row) => <ModelName model={row.model} identities={identities} /> },
        { name: "Right", numeric: true, cell: (row) => row.accuracy },
        { name: "90 % interval", className: "whitespace-nowrap text-ink-3", cell: (row) => row.span },
        { name: "Recruited for", numeric: true, cell: (row) => formatCount(row.asked) },
        { name: "Vote read", numeric: true, cell: (row) => row.voted },
        { name: "Mean tokens", numeric: true, cell: (row) => formatCount(row.meanTokens) },
      ]}
    />
  );
}

interface Shown {
  readonly cluster: ClusterSummary;
  readonly choice: GateChoice;
  readonly kept: KeptEnsemble | null;
}

/** The slider of tau with its effect: the report has every tau, so moving it requests nothing. */
function TauPanel({ cluster, choice, kept, report }: Shown & { readonly report: GateReport }) {
  const [view, write] = useUrlView(ensemblesCodec);
  const [done, setDone] = useState<string | null>(null);
  const { request, sample } = choice;
  const { expertsPerQuestion, aggregator } = request;
  const served = useServed(cluster.spec.id, { enabled: view.open === "tau" && cluster.gatewayUrl !== null }).data;
  const stops = useMemo(() => gateStops(report, expertsPerQuestion), [report, expertsPerQuestion]);
  const at = stopOf(stops, view.tau ?? report.chosenTau ?? kept?.ensemble.tau ?? null);
  const picture = useMemo(() => prepareTauChart(stops, { at, recommendedTau: report.chosenTau }), [stops, at, report.chosenTau]);
  const stop = stops[at];
  if (stop === undefined || picture === null) return <p className="text-sm text-ink-2">No tau changes anything on this sample.</p>;
  const recommended = report.chosenTau === null ? null : { at: stopOf(stops, report.chosenTau), word: "recommended" };
  const onStop = (index: number) => {
    setDone(null);
    write({ tau: stops[index]?.tau ?? null }, "replace");
  };
  const alone = aloneSays(report, stop);
  const use = kept === null ? null : prepareTauUse(kept.ensemble, request, report, stop.tau);
  const cannot = use === null ? "No ensemble can use it: make one on the Place tab." : use.ok ? null : use.says;
  return (
    <div className="grid items-start gap-x-8 gap-y-4 xl:grid-cols-2" data-testid="gate">
      <div className="flex min-w-0 flex-col gap-4">
        <TauSlider label="Skip the aggregator from tau" stops={stops} at={at} marked={recommended} onStop={onStop} />
        <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="gate-figures">
          {gateFigures(stop).map((figure) => (
            <Figure key={figure.name} {...figure} />
          ))}
        </dl>
        <p className="text-sm text-ink-2">{recommendation(report, request)}</p>
        {alone !== null && <p className="text-sm text-warn">{alone}</p>}
        <ul aria-label="Notes" className="flex list-none flex-col gap-1 text-sm text-ink-2">
          {report.notes.map((note, index) => (
            <li key={note}>
              {index === 0 && aggregator !== null && <Badge tone="hatched">modelled</Badge>} {note}
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" disabled={cannot !== null} onClick={() => write({ open: "tau" }, "push")}>
            {kept === null ? "Use this tau" : `Use this tau for ${kept.ensemble.name}`}
          </Button>
          {recommended !== null && recommended.at !== at && (
            <Button onClick={() => onStop(recommended.at)}>Go to the recommended tau</Button>
          )}
          {cannot !== null && <span className="text-sm text-ink-3">{cannot}</span>}
        </div>
        {done !== null && (
          <p role="status" className="text-sm text-ink-2">
            {done}
          </p>
        )}
      </div>
      <TauChart
        picture={picture}
        summary={`Accuracy against the share of questions that skip the aggregator, along tau, on ${sample.name} (${originWords[sample.origin].word}). ${picture.points.map(({ text }) => text).join("; ")}.`}
        onStop={onStop}
      />
      {kept !== null && use?.ok && (
        <TauDialog
          kept={kept}
          use={use}
          clusterId={cluster.spec.id}
          served={served}
          open={view.open === "tau"}
          onClose={() => write({ open: null }, "replace")}
          onKept={(says) => {
            setDone(says);
            write({ open: null }, "replace");
          }}
        />
      )}
    </div>
  );
}

/** A gate on a sample: tau and its effect, agreement against accuracy, and the experts. */
export function GatePanel(props: Shown & { readonly query: ReturnType<typeof useGateReport> }) {
  const { choice, query } = props;
  const { sample, request } = choice;
  const { word, tone } = originWords[sample.origin];
  const { data: report, isPlaceholderData } = query;
  const asked = gateStatus(choice.hindered, query);
  const buckets = useMemo(() => (report === undefined ? [] : prepareBuckets(report, request.expertsPerQuestion)), [report, request]);
  const says = useMemo(() => (report === undefined ? [] : agreementSays(report)), [report]);
  const origin = tone === "hatched" ? <Badge tone="hatched">{word}</Badge> : word;
  const paled = isPlaceholderData ? "opacity-50" : "";
  return (
    <>
      <Panel title="Tau" aside={<span>answers {origin}</span>}>
        <PanelState status={asked}>
          {() => report !== undefined && <div className={paled}>{<TauPanel {...props} report={report} />}</div>}
        </PanelState>
      </Panel>
      {asked.kind !== "empty" && report !== undefined && (
        <div className={`flex flex-col gap-4 ${paled}`}>
          <Panel title="Agreement" aside={<span>answers {origin}</span>}>
            <div className="flex flex-col gap-3">
              {says.map(({ text, doubts }) => (
                <p key={text} className={`text-sm ${doubts ? "text-warn" : "text-ink-2"}`}>
                  {text}
                </p>
              ))}
              <BucketList rows={buckets} standIn={request.aggregator !== null} />
            </div>
          </Panel>
          <Panel title="Experts" aside={<span>answers {origin}</span>}>
            <GateExperts rows={expertRows(report)} models={sample.models.map(({ model }) => model)} />
          </Panel>
        </div>
      )}
    </>
  );
}

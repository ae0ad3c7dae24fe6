"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { AnswerSampleSummary, ClusterSummary } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { RemoveButton } from "../ui/RemoveButton";
import { useUrlView } from "../url/useUrlView";
import { ensemblesCodec } from "./ensemblesCodec";
import { GateChoiceForm } from "./GateChoiceForm";
import { GatePanel } from "./GatePanel";
import { prepareGateChoice } from "./prepareGateChoice";
import { originWords } from "./prepareSamples";
import { SampleDialog } from "./SampleDialog";
import { useEnsembleInView } from "./useEnsembleInView";
import { useEnsembleAct } from "./useEnsembles";
import { useGateReport } from "./useGateReport";

/** Where the sample is from, what is to be known of it, and the way to be rid of it. */
function SampleFacts({ sample, onRemoved }: { readonly sample: AnswerSampleSummary; readonly onRemoved: () => void }) {
  const client = useTRPCClient();
  const remove = useEnsembleAct(() => client.ensembles.removeSample.mutate({ id: sample.id }), onRemoved);
  const { word, tone } = originWords[sample.origin];
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 border-t pt-3 text-sm text-ink-2">
      <Badge tone={tone}>{word}</Badge>
      <div className="min-w-0 flex-1">
        {sample.notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </div>
      <RemoveButton
        name={sample.name}
        kind="sample"
        consequences="No gate can be tried on it any more. Ensembles keep the tau that was chosen on it."
        removal={{ error: remove.error, isPending: remove.isPending, mutate: () => remove.mutate(undefined) }}
      />
    </div>
  );
}

/** When the aggregator may be skipped, tried on answers that are known to be right or wrong. */
export function GateTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const [view, write] = useUrlView(ensemblesCodec);
  const [removed, setRemoved] = useState<string | null>(null);
  const samples = useQuery(useTRPC().ensembles.samples.queryOptions());
  const { ensembles, kept: ensemble, status: kept } = useEnsembleInView(view.ensemble, write);
  // A gate can be tried before there is any ensemble, but not in the place of one that is not there.
  const strayed = ensemble === null && (kept.kind !== "empty" || view.ensemble !== null);
  const choice = useMemo(
    () => (strayed ? null : prepareGateChoice(samples.data ?? [], view, ensemble?.ensemble ?? null)),
    [samples.data, view, ensemble, strayed],
  );
  const request = useMemo(
    () => (choice === null || choice.hindered !== null ? null : { sampleId: choice.sample.id, ...choice.request }),
    [choice],
  );
  const report = useGateReport(request);
  const status = queryStatus(samples, {
    what: "Reading samples",
    empty: samples.data?.length === 0 && {
      kind: "empty",
      title: "No answers to try a gate on yet",
      text: "A gate is chosen on answers of which it is known whether they are right: bring a table of them, model one of a workload, or run a batch of prompts with references.",
      action: (
        <Button look="primary" onClick={() => write({ open: "sample" }, "push")}>
          Bring a sample
        </Button>
      ),
    },
  });
  return (
    <>
      <Panel
        title="What is tried"
        aside={
          <Button look="plain" onClick={() => write({ open: "sample" }, "push")}>
            Bring a sample
          </Button>
        }
      >
        <PanelState status={strayed ? kept : status}>
          {() =>
            choice !== null && (
              <div className="flex flex-col gap-3">
                {choice.strayed && (
                  <p role="status" className="text-sm text-warn">
                    The sample that the address names is not kept; this is another.
                  </p>
                )}
                {choice.doubt !== null && (
                  <p role="status" className="text-sm text-warn">
                    {choice.doubt}
                  </p>
                )}
                <GateChoiceForm
                  choice={choice}
                  samples={samples.data ?? []}
                  ensembles={ensembles}
                  ensemble={ensemble?.ensemble.name ?? null}
                  onChange={(change) => write(change, "replace")}
                />
                <SampleFacts
                  key={choice.sample.id}
                  sample={choice.sample}
                  onRemoved={() => {
                    setRemoved(`${choice.sample.name} is removed.`);
                    write({ sample: null, experts: null, aggregator: null, asked: null, tau: null }, "replace");
                  }}
                />
              </div>
            )
          }
        </PanelState>
      </Panel>
      {removed !== null && (
        <p role="status" className="text-sm text-ink-2">
          {removed}
        </p>
      )}
      {choice !== null && <GatePanel cluster={cluster} choice={choice} kept={ensemble} query={report} />}
      <SampleDialog
        open={view.open === "sample"}
        onClose={() => write({ open: null }, "replace")}
        onKept={(sample) => write({ open: null, sample, experts: null, aggregator: null, asked: null, tau: null }, "replace")}
      />
    </>
  );
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { Badge } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { RemoveButton } from "@/components/ui/RemoveButton";
import { useUrlView } from "@/components/url/useUrlView";
import type { AnswerSampleSummary, ClusterSummary } from "@/server/contracts/studio";
import { ensemblesCodec } from "../address/ensemblesCodec";
import { useEnsembleInView } from "../address/useEnsembleInView";
import { GateChoiceForm } from "./GateChoiceForm";
import { GatePanel } from "./GatePanel";
import { prepareGateChoice } from "./prepareGateChoice";
import { originWords } from "./prepareSamples";
import { SampleDialog } from "./SampleDialog";
import { useGateReport } from "./useGateReport";

/** The sample's origin, notes about it, and the button that deletes it. */
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
        consequences="Gates can no longer be tried on it. Ensembles keep the tau that was chosen on it."
        removal={remove}
      />
    </div>
  );
}

/** When the aggregator can be skipped, tested on answers that are known to be right or wrong. */
export function GateTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const [view, write] = useUrlView(ensemblesCodec);
  const [removed, setRemoved] = useState<string | null>(null);
  const samples = useQuery(useTRPC().ensembles.samples.queryOptions());
  const { ensembles, kept: ensemble, status: kept } = useEnsembleInView(view.ensemble, write);
  // A gate can be tried before any ensemble exists, but not in place of a named one that does not exist.
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
      text: "A gate is chosen on answers that are known to be right or wrong: add a table of them, model one from a workload, or run a batch of prompts with references.",
      action: (
        <Button look="primary" onClick={() => write({ open: "sample" }, "push")}>
          Add a sample
        </Button>
      ),
    },
  });
  return (
    <>
      <Panel
        title="Setup"
        aside={
          <Button look="plain" onClick={() => write({ open: "sample" }, "push")}>
            Add a sample
          </Button>
        }
      >
        <PanelState status={strayed ? kept : status}>
          {() =>
            choice !== null && (
              <div className="flex flex-col gap-3">
                {choice.strayed && (
                  <p role="status" className="text-sm text-warn">
                    The sample in the address no longer exists; this is another one.
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

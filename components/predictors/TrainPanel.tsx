"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePredictorAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useClusters } from "../shell/useCurrentCluster";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { uploadRuns } from "../ui/uploadFile";
import { useUrlView } from "../url/useUrlView";
import { ConfigurationFields } from "./ConfigurationFields";
import { composeTraining, type OutcomesOf, type TrainingKind } from "./composeTraining";
import { RunsField } from "./RunsField";
import { TrainingLine } from "./TrainingLine";
import { trainCodec } from "./trainCodec";

const whats: readonly { readonly value: TrainingKind; readonly text: string }[] = [
  { value: "lengths", text: "lengths, of modelled programs" },
  { value: "traffic", text: "lengths, of a cluster's traffic" },
  { value: "confidence", text: "confidence, of labelled prompts" },
  { value: "configurations", text: "accurate configurations" },
];

const outcomes: readonly { readonly value: OutcomesOf; readonly text: string }[] = [
  { value: "workload", text: "modelled from a workload" },
  { value: "runs", text: "from executed runs (a file)" },
];

/** Models that configurations can use: the limits of a training. */
const MOST_MODELS = 8;

/** The training data of each kind, and its limits. */
const explained: Readonly<Record<TrainingKind, string>> = {
  lengths:
    "Output tokens of a request and of the rest of its program, by model, from token counts, workflow, stage and hashed words of the prompt. Programs are modelled from the workload's answers, so the effect of stages comes from the workflow model.",
  traffic:
    "The same from requests that the gateway served. The gateway stores counts and, if the policy has a predictor of lengths, hashed counts of that predictor's common words: the words can be tested for but their order is not stored. Without such a predictor no words are stored. It records whole programs, up to a limit, while the policy in force uses lengths or confidence. A program is complete after ten minutes without a request.",
  confidence:
    "Which model will answer a prompt right, from hashed words and the prompt's length. A prompt says little about this: expect an AUC between 0.50 (a coin) and about 0.70. Labels come from the workload; traffic has none.",
  configurations:
    "Which models a declared workflow's agents may use so that its answer is as good as with the largest models, from hashed words and the prompt's length, with one head per configuration. Outcomes are modelled from the workload's labels, or read from a file of executed runs that were graded under every configuration. The file's texts are stored for a day and not in the predictor. A head's threshold is set so that accepted configurations lose at most 2 points of quality; if words say little, few are accepted.",
};

/** The next training: its choices, its start and its progress. */
export function TrainPanel({ workloadId, onTrained }: { readonly workloadId: string | null; readonly onTrained: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const workflows = useQuery(trpc.lab.workflows.queryOptions()).data ?? [];
  const clusters = (useClusters().data ?? []).filter(({ health }) => health.state !== "not-connected");
  const [asked] = useUrlView(trainCodec);
  const [what, setWhat] = useState<TrainingKind>(asked.train ?? "lengths");
  const [named, setNamed] = useState<string | null>(null);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [correlation, setCorrelation] = useState(0.5);
  const [misleads, setMisleads] = useState(0.5);
  const [encoderFolder, setEncoderFolder] = useState("");
  const declared = useQuery(trpc.declaredWorkflows.list.queryOptions()).data ?? [];
  const [declaredName, setDeclaredName] = useState(asked.workflow);
  const [chosenModels, setChosenModels] = useState(asked.models);
  const [outcomesOf, setOutcomesOf] = useState<OutcomesOf>("workload");
  const runs = useMutation({ mutationFn: uploadRuns });
  const [cluster, setCluster] = useState<string | null>(null);
  const train = usePredictorAct(client.artefacts.train.mutate);
  const workload = [named, workloadId].find((id) => workloads.data?.some((one) => one.id === id)) ?? workloads.data?.[0]?.id ?? null;
  const clusterId = clusters.find(({ spec }) => spec.id === cluster)?.spec.id ?? clusters[0]?.spec.id ?? null;
  const ran = chosen.length > 0 ? chosen : workflows.slice(0, 1).map(({ name }) => name);
  const workflow = declared.find(({ document }) => document.name === declaredName)?.document.name ?? declared[0]?.document.name ?? null;
  const ofRuns = what === "configurations" && outcomesOf === "runs";
  const answered = workloads.data?.find(({ id }) => id === workload)?.models.map(({ model }) => model) ?? [];
  const offered = ofRuns ? (runs.data?.survey.models ?? []) : answered;
  const models = offered.filter((model) => chosenModels === null || chosenModels.includes(model)).slice(0, MOST_MODELS);
  const request = composeTraining({
    ...{ what, workload, clusterId, workflows: ran, declared: workflow, models, correlation, misleads },
    ...{ outcomesOf, uploadId: runs.data?.uploadId ?? null, encoderFolder: encoderFolder.trim() },
  });
  const readsTexts = what === "confidence" || what === "configurations";
  const status = queryStatus(workloads, {
    what: "Reading workloads",
    empty: workloads.data?.length === 0 && {
      kind: "empty",
      title: "No workload yet",
      text: "Predictors learn from a workload's prompts and answers. Add a workload on the Workloads page, or make one from a profile so that prompt texts are available too.",
    },
  });
  return (
    <Panel title="Train a predictor">
      <PanelState status={status}>
        {() => (
          <form
            className="flex flex-col gap-3"
            aria-label="Train a predictor"
            onSubmit={(event) => {
              event.preventDefault();
              if (request !== null) train.mutate(request);
            }}
          >
            <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
              <SelectField label="Learn" value={what} options={whats} onChange={setWhat} />
              {what === "configurations" && <SelectField label="Outcomes" value={outcomesOf} options={outcomes} onChange={setOutcomesOf} />}
              {what === "traffic" && (
                <SelectField
                  label="Cluster"
                  value={clusterId ?? ""}
                  options={clusters.map(({ spec }) => ({ value: spec.id, text: spec.name }))}
                  onChange={setCluster}
                />
              )}
              {what !== "traffic" && !ofRuns && (
                <SelectField
                  label="Workload"
                  value={workload ?? ""}
                  options={(workloads.data ?? []).map(({ id, name, version }) => ({ value: id, text: `${name} v${version}` }))}
                  onChange={setNamed}
                />
              )}
              {what === "configurations" && declared.length > 0 && (
                <SelectField
                  label="Workflow"
                  value={workflow ?? ""}
                  options={declared.map(({ document, version }) => ({ value: document.name, text: `${document.name} v${version}` }))}
                  onChange={setDeclaredName}
                />
              )}
              {(what === "lengths" || (what === "configurations" && !ofRuns)) && (
                <NumberField
                  label="Correlation of a program's stages"
                  value={correlation}
                  min={0}
                  max={1}
                  step={0.1}
                  onChange={setCorrelation}
                />
              )}
              {what === "configurations" && !ofRuns && (
                <NumberField
                  label="Chance that a wrong answer misleads"
                  value={misleads}
                  min={0}
                  max={1}
                  step={0.1}
                  onChange={setMisleads}
                />
              )}
              {readsTexts && (
                <TextField
                  label="Folder of an ONNX encoder, if any"
                  className="min-w-72"
                  value={encoderFolder}
                  maxLength={1000}
                  placeholder="none: hashed words"
                  onChange={setEncoderFolder}
                />
              )}
            </div>
            {what === "lengths" && (
              <fieldset className="flex flex-wrap gap-x-6">
                <legend className="text-xs text-ink-3">Workflows that programs run, in equal shares</legend>
                {workflows.map(({ name, title }) => (
                  <Check
                    key={name}
                    checked={ran.includes(name)}
                    disabled={ran.length === 1 && ran[0] === name}
                    onChange={(checked) => setChosen(checked ? [...ran, name] : ran.filter((one) => one !== name))}
                  >
                    {title}
                  </Check>
                ))}
              </fieldset>
            )}
            {ofRuns && <RunsField survey={runs.data?.survey ?? null} sending={runs} onFile={(file) => runs.mutate(file)} />}
            {what === "configurations" && (!ofRuns || offered.length > 0) && (
              <ConfigurationFields isDeclared={declared.length > 0} offered={offered} chosen={models} onChoose={setChosenModels} />
            )}
            <p className="max-w-prose text-xs text-ink-3">
              {explained[what]}
              {readsTexts &&
                " An encoder's folder is on the studio's machine and contains config.json, tokenizer.json, tokenizer_config.json and onnx/model.onnx; nothing is downloaded. A gateway serves heads on an encoder only if it was started with a folder of identical files."}
            </p>
            <TrainingLine onTrained={onTrained}>
              <PermittedButton permission="prepare" type="submit" look="primary" disabled={request === null || train.isPending}>
                {train.isPending ? "Starting …" : "Train"}
              </PermittedButton>
            </TrainingLine>
            <ErrorLine error={train.error} />
          </form>
        )}
      </PanelState>
    </Panel>
  );
}

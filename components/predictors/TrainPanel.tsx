"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useClusters } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { uploadRuns } from "../workloads/uploadFile";
import { ConfigurationFields } from "./ConfigurationFields";
import { composeTraining, type OutcomesOf, type TrainingKind } from "./composeTraining";
import { RunsField } from "./RunsField";
import { TrainingLine } from "./TrainingLine";
import { trainCodec } from "./trainCodec";
import { usePredictorAct } from "./usePredictorAct";

const whats: readonly { readonly value: TrainingKind; readonly text: string }[] = [
  { value: "lengths", text: "lengths, of modelled programs" },
  { value: "traffic", text: "lengths, of a cluster's traffic" },
  { value: "confidence", text: "confidence, of labelled prompts" },
  { value: "configurations", text: "accurate configurations" },
];

const outcomes: readonly { readonly value: OutcomesOf; readonly text: string }[] = [
  { value: "workload", text: "modelled of a workload" },
  { value: "runs", text: "of executed runs (a file)" },
];

/** Models that configurations may be of: what a training takes. */
const MOST_MODELS = 8;

/** What each kind learns of, and what it cannot know. */
const explained: Readonly<Record<TrainingKind, string>> = {
  lengths:
    "How much a request and the rest of its program will write, by model: from token counts, workflow, stage and hashed words of the prompt. Programs are modelled from the workload's answers, so what it finds of stages is what the model of workflows puts there.",
  traffic:
    "The same from requests that the gateway served. It remembers counts and, where the policy names a predictor of lengths, how often that one's common words stood in a prompt, hashed: who tries them finds out whether, not in which order. Without such a predictor no words are learnt. It remembers while the policy in force goes by lengths or confidence, whole programs and as many as there is room for; one counts once nothing came of it for ten minutes.",
  confidence:
    "Which model will answer a prompt right, before any has: from hashed words and the prompt's length. A prompt tells little of that: expect figures between a coin's 50 and about 70. Labels are of the workload; traffic has none.",
  configurations:
    "Which models a declared workflow's agents may have so that its answer is as good as with the largest throughout: from hashed words and the prompt's length, a head for each configuration. Outcomes are modelled from the workload's labels where nobody has graded programs under every configuration; where somebody has, a file of executed runs says them. Its texts are kept for a day and not in the predictor. A head accepts from the chance on at which accepted configurations lose at most 2 points of quality; where words tell little, few are accepted.",
};

/** What is trained next: chosen, started, followed. */
export function TrainPanel({ workloadId, onTrained }: { readonly workloadId: string | null; readonly onTrained: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const workflows = useQuery(trpc.lab.workflows.queryOptions()).data ?? [];
  const clusters = (useClusters().data ?? []).filter(({ health }) => health.word !== "not connected");
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
      text: "Predictors learn of a workload's prompts and answers. Bring one on the Workloads page, or make one of a profile, so that prompts' words are known too.",
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
              <SelectField
                label="Learn"
                value={what}
                options={whats}
                onChange={(value) => setWhat(whats.find((one) => one.value === value)?.value ?? what)}
              />
              {what === "configurations" && (
                <SelectField
                  label="Outcomes"
                  value={outcomesOf}
                  options={outcomes}
                  onChange={(value) => setOutcomesOf(outcomes.find((one) => one.value === value)?.value ?? outcomesOf)}
                />
              )}
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
                  label="How alike a program's stages are"
                  value={correlation}
                  min={0}
                  max={1}
                  step={0.1}
                  onChange={setCorrelation}
                />
              )}
              {what === "configurations" && !ofRuns && (
                <NumberField label="How often a wrong answer misleads" value={misleads} min={0} max={1} step={0.1} onChange={setMisleads} />
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
            {ofRuns && (
              <RunsField
                survey={runs.data?.survey ?? null}
                busy={runs.isPending}
                error={runs.error?.message ?? null}
                onFile={(file) => runs.mutate(file)}
              />
            )}
            {what === "configurations" && (!ofRuns || offered.length > 0) && (
              <ConfigurationFields isDeclared={declared.length > 0} offered={offered} chosen={models} onChoose={setChosenModels} />
            )}
            <p className="max-w-prose text-xs text-ink-3">
              {explained[what]}
              {readsTexts &&
                " An encoder's folder lies on the studio's machine and holds config.json, tokenizer.json, tokenizer_config.json and onnx/model.onnx; nothing is fetched. Gateways serve heads on an encoder where they were started with its folder, of the same files to the byte."}
            </p>
            <TrainingLine onTrained={onTrained}>
              <Button type="submit" look="primary" disabled={request === null || train.isPending}>
                {train.isPending ? "Starting …" : "Train"}
              </Button>
            </TrainingLine>
            <ErrorLine error={train.error} />
          </form>
        )}
      </PanelState>
    </Panel>
  );
}

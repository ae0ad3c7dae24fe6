"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { Check } from "@/components/ui/Check";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { SelectField, TextField } from "@/components/ui/Field";
import { FilePicker } from "@/components/ui/FilePicker";
import { formatCounted, formatFinePercent } from "@/components/ui/format";
import { Modal } from "@/components/ui/Modal";
import { NoteList } from "@/components/ui/Notes";
import { uploadAnswers } from "@/components/ui/uploadFile";
import type { SurveyedAnswers } from "@/server/contracts/studio";
import { MOST_MODELS, nameOfFile, sampleHindrance, tickedModels } from "./prepareSamples";
import { unpackedFile } from "./unpackedFile";

const NAME_LENGTH = 80;

/** Models of a file from which a sample is made. */
function SurveyedModels(props: {
  readonly survey: SurveyedAnswers;
  readonly chosen: readonly string[];
  readonly onChoose: (models: readonly string[]) => void;
}) {
  const { models, questions, notes } = props.survey;
  return (
    <div className="flex flex-col gap-2" data-testid="surveyed">
      <p className="text-sm text-ink-2">
        {formatCounted(questions, "question")}, {formatCounted(models.length, "model")}.
      </p>
      <fieldset className="flex flex-col gap-1">
        <legend className="text-xs text-ink-3">
          Models to keep, from 2 to {MOST_MODELS}: experts, and one more to stand in for an aggregator. The most accurate comes first.
        </legend>
        <div className="grid max-h-64 auto-rows-max gap-x-6 pt-1 overflow-y-auto sm:grid-cols-2">
          {models
            .toSorted((a, b) => b.accuracy - a.accuracy)
            .map(({ model, accuracy }) => (
              <Check
                key={model}
                checked={props.chosen.includes(model)}
                onChange={(checked) =>
                  props.onChoose(
                    models.map((each) => each.model).filter((each) => (each === model ? checked : props.chosen.includes(each))),
                  )
                }
              >
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  {model} <span className="text-xs text-ink-3">{formatFinePercent(accuracy)}</span>
                </span>
              </Check>
            ))}
        </div>
      </fieldset>
      {notes.length > 0 && <NoteList label="What was left out" items={notes} className="list-disc pl-5 text-sm text-ink-2" />}
    </div>
  );
}

/** From a table of answers: uploaded, checked, and stored for the selected models. */
function OfFile({ onKept, onClose }: { readonly onKept: (id: string) => void; readonly onClose: () => void }) {
  const client = useTRPCClient();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const sent = useMutation({
    mutationFn: async (file: File) => uploadAnswers(await unpackedFile(file)),
    onSuccess: ({ survey }, file) => {
      setName(nameOfFile(file.name));
      setChosen(tickedModels(survey.models));
    },
  });
  const keep = useEnsembleAct(client.ensembles.keepSample.mutate, ({ id }: { readonly id: string }) => onKept(id));
  const hindered = sent.data === undefined ? "Choose a file." : sampleHindrance({ name, models: chosen });
  return (
    <form
      className="flex flex-col gap-3"
      aria-label="A sample of a file"
      onSubmit={(event) => {
        event.preventDefault();
        if (sent.data !== undefined && hindered === null && !keep.isPending)
          keep.mutate({ name, source: { kind: "upload", uploadId: sent.data.uploadId, models: [...chosen] } });
      }}
    >
      <FilePicker
        label="Answers of several models"
        accept=".csv,.gz,text/csv,application/gzip"
        hint="CSV, also gzipped, up to 64 MB unpacked, an answer a row: prompt_id, model, correct (0 or 1), answer, and tokens where they are known. The answer is the vote itself, such as B or 42."
        sending={sent}
        onFile={(file) => sent.mutate(file)}
      />
      {sent.data !== undefined && <SurveyedModels survey={sent.data.survey} chosen={chosen} onChoose={setChosen} />}
      {sent.data !== undefined && <TextField label="Name" value={name} maxLength={NAME_LENGTH} onChange={setName} />}
      <Foot hindered={hindered} pending={keep.isPending} error={keep.error} onClose={onClose} />
    </form>
  );
}

/** From a workload's labels: which questions each model answers correctly is known, its answers are modelled. */
function OfWorkload({ onKept, onClose }: { readonly onKept: (id: string) => void; readonly onClose: () => void }) {
  const client = useTRPCClient();
  const workloads = useQuery(useTRPC().workloads.list.queryOptions()).data ?? [];
  const [named, setNamed] = useState<string | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const workload = workloads.find(({ id }) => id === named) ?? workloads[0];
  const name = typed ?? (workload === undefined ? "" : `${workload.name}, modelled`.slice(0, NAME_LENGTH));
  const keep = useEnsembleAct(client.ensembles.keepSample.mutate, ({ id }: { readonly id: string }) => onKept(id));
  const hindered = workload === undefined ? "There is no workload yet." : name.trim() === "" ? "Give it a name." : null;
  return (
    <form
      className="flex flex-col gap-3"
      aria-label="A sample of a workload"
      onSubmit={(event) => {
        event.preventDefault();
        if (workload !== undefined && hindered === null && !keep.isPending)
          keep.mutate({ name, source: { kind: "workload", workloadId: workload.id } });
      }}
    >
      <SelectField
        label="Workload"
        value={workload?.id ?? ""}
        options={workloads.map((each) => ({ value: each.id, text: `${each.name} v${each.version}` }))}
        onChange={setNamed}
        hint="Its labels say which answers are right. Wrong answers are drawn at random, so the sample is marked modelled."
      />
      <TextField label="Name" value={name} maxLength={NAME_LENGTH} onChange={setTyped} />
      <Foot hindered={hindered} pending={keep.isPending} error={keep.error} onClose={onClose} />
    </form>
  );
}

function Foot(props: {
  readonly hindered: string | null;
  readonly pending: boolean;
  readonly error: { readonly message: string } | null;
  readonly onClose: () => void;
}) {
  return (
    <>
      <ErrorLine error={props.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        {props.hindered !== null && <p className="mr-auto text-sm text-ink-3">{props.hindered}</p>}
        <Button onClick={props.onClose}>Cancel</Button>
        <Button type="submit" look="primary" disabled={props.hindered !== null || props.pending}>
          {props.pending ? "Saving …" : "Save"}
        </Button>
      </div>
    </>
  );
}

const ways = [
  { value: "file", text: "a file of answers" },
  { value: "workload", text: "a workload's labels, modelled" },
] as const;

/** Adds labelled answers to choose a gate on: from a file, or modelled from a workload. A finished batch makes a sample on its own tab. */
export function SampleDialog(props: { readonly open: boolean; readonly onClose: () => void; readonly onKept: (id: string) => void }) {
  const [way, setWay] = useState<(typeof ways)[number]["value"]>("file");
  const Form = way === "file" ? OfFile : OfWorkload;
  return (
    <Modal
      open={props.open}
      onOpenChange={(next) => !next && props.onClose()}
      title="Add a sample of answers"
      description="Answers of several models to the same questions, and whether each is right. A finished batch whose prompts have references makes one too, on the Batches tab."
    >
      <SelectField label="Of" value={way} options={ways} onChange={setWay} />
      <Form onKept={props.onKept} onClose={props.onClose} />
    </Modal>
  );
}

"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { AZURE_CONVERSATION_SHAPE } from "@/solver/engine/gammaArrivals";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField, TextField } from "../ui/Field";
import { FilePicker } from "../ui/FilePicker";
import { formatCounted, formatRate } from "../ui/format";
import { type OutcomesSurvey, uploadArrivals, uploadOutcomes } from "../ui/uploadFile";
import { GateColumnFields } from "./GateColumnFields";
import { AUC_CHOICES, comparisonsOf, type ImportChoice, importRequest, startingChoice, unnamedModels } from "./prepareImport";

/** The choices for importing a table, once it is surveyed. */
function Choices(props: {
  readonly survey: OutcomesSurvey;
  readonly choice: ImportChoice;
  readonly onChange: (choice: ImportChoice) => void;
}) {
  const { survey, choice, onChange } = props;
  const cards = (useQuery(useTRPC().cards.list.queryOptions()).data?.models ?? []).map(({ id }) => id);
  const family = survey.families.find((each) => each.family === choice.family);
  if (family === undefined) return null;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Name of the workload" value={choice.name} maxLength={80} onChange={(name) => onChange({ ...choice, name })} />
        <SelectField
          label="Family"
          value={choice.family}
          options={survey.families.map((each) => ({
            value: each.family,
            text: `${each.family} (${formatCounted(each.models.length, "model")})`,
          }))}
          onChange={(name) => {
            const next = survey.families.find((each) => each.family === name);
            if (next !== undefined) onChange({ ...startingChoice(next), arrivalsUploadId: choice.arrivalsUploadId });
          }}
        />
      </div>
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-1 text-xs text-ink-3">Tasks</legend>
        {family.tasks.map((task) => (
          <label key={task.task} className="inline-flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              className="size-4 accent-(--accent)"
              checked={choice.tasks.includes(task.task)}
              onChange={(event) =>
                onChange({
                  ...choice,
                  tasks: event.target.checked ? [...choice.tasks, task.task] : choice.tasks.filter((each) => each !== task.task),
                })
              }
            />
            {task.task}
            <span className="text-xs text-ink-3">{formatCounted(task.rows, "row")}</span>
          </label>
        ))}
      </fieldset>
      {family.models
        .filter((each) => each.model === null)
        .map((each) => (
          <TextField
            key={each.tableName}
            label={`Model card for “${each.tableName}”`}
            placeholder="such as llama-3.1-8b"
            suggestions={cards}
            value={choice.aliases[each.tableName] ?? ""}
            onChange={(card) => onChange({ ...choice, aliases: { ...choice.aliases, [each.tableName]: card.trim() } })}
          />
        ))}
      {family.judged ? (
        <p className="text-sm text-ink-2">The table has judged scores: they are used as measured.</p>
      ) : (
        <SelectField
          label="Judge (modelled): reliability as AUC"
          value={String(choice.auc)}
          options={AUC_CHOICES}
          hint="The table has labels only. Judge scores are modelled and marked as modelled everywhere."
          onChange={(value) => onChange({ ...choice, auc: Number(value) })}
        />
      )}
      <GateColumnFields
        columns={family.gateColumns}
        comparisons={comparisonsOf(family)}
        value={choice.gates}
        onChange={(gates) => onChange({ ...choice, gates })}
      />
    </div>
  );
}

/** Imports a table of outcomes with the selected parts, and optional arrivals. */
export function OutcomesImport({ onDone }: { readonly onDone: (id: string) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [choice, setChoice] = useState<ImportChoice | null>(null);
  const outcomes = useMutation({
    mutationFn: uploadOutcomes,
    onMutate: () => setChoice(null),
    onSuccess: ({ survey }) => setChoice(survey.families[0] === undefined ? null : startingChoice(survey.families[0])),
  });
  const arrivals = useMutation({
    mutationFn: uploadArrivals,
    onSuccess: ({ uploadId }) => setChoice((current) => (current === null ? null : { ...current, arrivalsUploadId: uploadId })),
  });
  const take = useMutation({
    mutationFn: async (request: ReturnType<typeof importRequest>) => unwrapOutcome(await client.workloads.import.mutate(request)),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.workloads.pathFilter());
      onDone(id);
    },
  });
  const family = outcomes.data?.survey.families.find((each) => each.family === choice?.family);
  const unnamed = family === undefined || choice === null ? [] : unnamedModels(family, choice.aliases);
  const trace = arrivals.data?.survey;
  const blocked =
    choice === null || choice.name.trim() === "" || choice.tasks.length === 0 || unnamed.length > 0 || arrivals.isPending || take.isPending;
  return (
    <>
      <FilePicker
        label="Outcomes file"
        hint="CSV, up to 64 MB: family, model, size rank, task, prompt, score and lengths, optionally scores of a judge, confidence and agreement."
        sending={outcomes}
        note={outcomes.data === undefined ? null : `${formatCounted(outcomes.data.survey.rows, "row")} read.`}
        onFile={(file) => outcomes.mutate(file)}
      />
      {outcomes.data !== undefined && choice !== null && (
        <>
          <Choices survey={outcomes.data.survey} choice={choice} onChange={setChoice} />
          <FilePicker
            label="Arrivals file (optional)"
            hint={`CSV with a column TIMESTAMP, as in the Azure LLM traces. Without one, arrivals are generated: bursty, a Gamma renewal process of shape ${AZURE_CONVERSATION_SHAPE}.`}
            sending={arrivals}
            note={
              trace === undefined
                ? null
                : `${formatCounted(trace.arrivals, "arrival")}, ${formatRate(trace.arrivals / Math.max(1, trace.spanSeconds))} as recorded.`
            }
            onFile={(file) => arrivals.mutate(file)}
          />
          <ErrorLine error={take.error} />
          <div className="flex items-center justify-end gap-3">
            {unnamed.length > 0 && <span className="text-sm text-ink-3">Name a model card for {unnamed.join(", ")}.</span>}
            {choice.tasks.length === 0 && <span className="text-sm text-ink-3">Choose at least one task.</span>}
            <Button
              look="primary"
              disabled={blocked}
              onClick={() => outcomes.data !== undefined && take.mutate(importRequest(outcomes.data, choice))}
            >
              Import workload
            </Button>
          </div>
        </>
      )}
    </>
  );
}

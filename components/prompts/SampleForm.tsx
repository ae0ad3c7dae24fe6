import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { DataTable } from "../ui/DataTable";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, TextField } from "../ui/Field";
import { formatCount } from "../ui/format";
import { Knob } from "../ui/Knob";
import {
  type SampleForm as Form,
  MIN_SAMPLE,
  mostOf,
  prepareSample,
  type SamplePicture,
  startingSample,
  stratifiers,
  stratifierWords,
  USUAL_RETENTION_DAYS,
} from "./prepareSample";
import type { PromptUpload } from "./uploadPrompts";

function Strata({ strata }: { readonly strata: NonNullable<SamplePicture["strata"]> }) {
  return (
    <div className="max-h-72 overflow-y-auto">
      <DataTable
        caption="What is taken of each category"
        rows={strata}
        rowKey={(stratum) => stratum.name}
        columns={[
          { name: "Category", className: "[overflow-wrap:anywhere]", cell: (stratum) => stratum.name },
          { name: "Prompts", numeric: true, cell: (stratum) => formatCount(stratum.population) },
          { name: "Taken", numeric: true, cell: (stratum) => formatCount(stratum.sampled) },
          { name: "Precision of its quality", numeric: true, className: "text-ink-2", cell: (stratum) => stratum.interval },
        ]}
      />
    </div>
  );
}

/** How many of an upload's prompts are sampled, how they are stratified, and how long they are kept. */
export function SampleForm(props: {
  readonly upload: PromptUpload;
  /** Names of existing samples. */
  readonly names: readonly string[];
  readonly onSampled: (id: string) => void;
}) {
  const { upload, names, onSampled } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [form, setForm] = useState<Form>(() => startingSample(upload, names));
  const picture = useMemo(() => prepareSample(upload, form, names), [upload, form, names]);
  const put = (change: Partial<Form>): void => setForm((current) => ({ ...current, ...change }));
  const most = mostOf(upload);
  const starting = upload.traffic?.retentionDays ?? USUAL_RETENTION_DAYS;
  const sample = useMutation({
    mutationFn: async (request: NonNullable<SamplePicture["request"]>) => unwrapOutcome(await client.prompts.sample.mutate(request)),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.prompts.pathFilter());
      onSampled(id);
    },
  });
  return (
    <form
      noValidate
      className="flex flex-col gap-4 border-t pt-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (picture.request !== null && !sample.isPending) sample.mutate(picture.request);
      }}
    >
      <div className="grid gap-x-8 gap-y-4 md:grid-cols-2">
        <TextField label="Name of the sample" value={form.name} maxLength={80} onChange={(name) => put({ name })} />
        <div className="flex flex-wrap items-end gap-x-4 gap-y-1">
          <Check checked={form.retentionDays !== null} onChange={(kept) => put({ retentionDays: kept ? starting : null })}>
            Delete the texts automatically
          </Check>
          {form.retentionDays !== null && (
            <NumberField
              label="after"
              unit="days"
              min={1}
              max={3650}
              whole
              value={form.retentionDays}
              onChange={(retentionDays) => put({ retentionDays })}
            />
          )}
          <NumberField
            label="Draw"
            min={1}
            max={1_000_000}
            whole
            value={form.draw}
            hint="The same number draws the same prompts from the same file again; another number draws a new sample."
            onChange={(draw) => put({ draw })}
          />
        </div>
        <Knob
          label="Prompts to take"
          unit={`of ${formatCount(upload.survey.prompts)}`}
          value={form.size}
          min={Math.min(MIN_SAMPLE, most)}
          max={most}
          step={1}
          whole
          note={<span role="status">{picture.interval}</span>}
          onDraft={(size) => put({ size })}
          onCommit={(size) => put({ size })}
          onReset={null}
        />
        <fieldset>
          <legend className="text-sm font-medium">Spread over</legend>
          <div className="flex flex-wrap gap-x-4">
            {stratifiers.map((each) => (
              <Check
                key={each}
                checked={form.by.includes(each)}
                onChange={(on) => put({ by: stratifiers.filter((one) => (one === each ? on : form.by.includes(one))) })}
              >
                {stratifierWords[each]}
              </Check>
            ))}
          </div>
          <p className="text-xs text-ink-3">
            Every prompt has the same chance. {picture.note} A kind with an expected count below one is missing from some samples.
          </p>
        </fieldset>
      </div>
      {picture.strata !== null && <Strata strata={picture.strata} />}
      {picture.warning !== null && (
        <p role="status" className="max-w-prose text-sm text-warn">
          {picture.warning}
        </p>
      )}
      <ErrorLine error={sample.error} />
      <div className="flex flex-wrap items-center justify-end gap-3">
        {picture.blocked !== null && <span className="text-sm text-ink-3">{picture.blocked}</span>}
        {sample.isPending && (
          <span role="status" className="text-sm text-ink-2">
            Taking {formatCount(form.size)} prompts …
          </span>
        )}
        <Button type="submit" look="primary" disabled={picture.request === null || sample.isPending}>
          Take the sample
        </Button>
      </div>
    </form>
  );
}

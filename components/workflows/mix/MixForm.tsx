"use client";

import { Check } from "@/components/ui/Check";
import { NumberField, SelectField } from "@/components/ui/Field";
import type { DeclaredWorkflow } from "@/server/contracts/studio";
import { RoundChoiceFields } from "../declared/RoundChoiceFields";
import { predictorChoices } from "./predictorChoices";
import { type MixEntry, type MixForm, noEntry, predictorOf } from "./prepareMix";

const MOST_PER_SECOND = 100_000;

/** Whether a class belongs to the mix, its rate and its floor. */
function EntryFields(props: {
  readonly name: string;
  readonly unit: string;
  readonly entry: MixEntry;
  readonly onChange: (entry: MixEntry) => void;
  /** null: the class has no predictors to choose from. */
  readonly declared: DeclaredWorkflow | null;
}) {
  const { name, entry, onChange, declared } = props;
  return (
    <fieldset className="flex flex-wrap items-end gap-x-4 gap-y-1 border-line border-t pt-2">
      <legend className="sr-only">{name}</legend>
      <span className="min-w-44">
        <Check checked={entry.ticked} onChange={(ticked) => onChange({ ...entry, ticked })}>
          {name}
        </Check>
      </span>
      {entry.ticked && (
        <>
          <NumberField
            label={`Rate of ${name}`}
            unit={props.unit}
            value={entry.rate}
            min={0}
            above
            max={MOST_PER_SECOND}
            onChange={(rate) => onChange({ ...entry, rate })}
          />
          <NumberField
            label={`Quality floor of ${name}`}
            unit="of 100"
            value={entry.floor}
            min={0}
            max={100}
            onChange={(floor) => onChange({ ...entry, floor })}
          />
          {declared !== null && (
            <SelectField
              className="min-w-56 flex-1"
              label={`Predictor of ${name}`}
              value={predictorOf(declared, entry)}
              options={predictorChoices(declared)}
              onChange={(predictor) => onChange({ ...entry, predictor })}
            />
          )}
        </>
      )}
    </fieldset>
  );
}

/** The classes of a mix with their rates and floors, and the rule by which rounds choose. */
export function MixFields(props: {
  readonly form: MixForm;
  readonly declared: readonly DeclaredWorkflow[];
  readonly workloads: readonly { readonly value: string; readonly text: string }[];
  readonly workloadId: string;
  readonly onChange: (form: MixForm) => void;
}) {
  const { form, declared, onChange } = props;
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        className="w-72 max-w-full"
        label="Workload of prompts and answers"
        value={props.workloadId}
        options={props.workloads}
        onChange={(workloadId) => onChange({ ...form, workloadId })}
      />
      <div className="flex flex-col gap-2">
        <EntryFields
          {...{ name: "single requests", unit: "requests/s", declared: null }}
          entry={form.singles}
          onChange={(singles) => onChange({ ...form, singles })}
        />
        {declared.map((own) => {
          const { name } = own.document;
          return (
            <EntryFields
              key={name}
              {...{ name, unit: "programs/s", declared: own }}
              entry={form.workflows[name] ?? noEntry}
              onChange={(entry) => onChange({ ...form, workflows: { ...form.workflows, [name]: entry } })}
            />
          );
        })}
      </div>
      <RoundChoiceFields choice={form.selection} onChange={(selection) => onChange({ ...form, selection })} />
    </div>
  );
}

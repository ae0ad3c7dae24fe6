import { Button } from "@/components/ui/Button";
import { Check } from "@/components/ui/Check";
import { NumberField, SelectField } from "@/components/ui/Field";
import { Notes } from "@/components/ui/Notes";
import type { EnsemblesView } from "../address/ensemblesCodec";
import { AssignmentsField } from "./AssignmentsField";
import { kOptions, type PlaceForm, storageOptions } from "./preparePlaceForm";
import type { Assigned } from "./useAssignments";

/** The inputs of a placement, all in the address except the content of a file of assignments. */
export function PlaceFields(props: {
  readonly form: PlaceForm;
  readonly view: EnsemblesView;
  readonly assigned: Assigned;
  readonly onChange: (change: Partial<EnsemblesView>) => void;
}) {
  const { form, view, assigned, onChange } = props;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          label="GPU"
          value={form.gpu}
          options={form.gpuOptions}
          onChange={(gpu) => onChange({ gpu, workers: null, perWorker: null })}
        />
        <NumberField label="Workers" whole value={form.workers} min={1} max={256} onChange={(workers) => onChange({ workers })} />
        <NumberField
          label="GPUs per worker"
          whole
          value={form.gpusPerWorker}
          min={1}
          max={16}
          onChange={(perWorker) => onChange({ perWorker })}
        />
        <SelectField
          label="Models per worker, at most (K)"
          value={view.k === null ? "" : String(view.k)}
          options={kOptions}
          onChange={(k) => onChange({ k: k === "" ? null : Number(k) })}
        />
        {form.promptOptions.length > 1 && (
          <SelectField
            className="max-w-full"
            label="Prompts"
            value={form.prompts}
            options={form.promptOptions}
            onChange={(prompts) => onChange({ prompts: prompts === "" ? null : prompts, questions: null })}
          />
        )}
        <NumberField
          label="Questions"
          whole
          value={form.questions}
          min={1}
          max={10_000_000}
          onChange={(questions) => onChange({ questions })}
        />
        <SelectField
          className="max-w-full min-w-48"
          label="Answer lengths from"
          value={form.lengths}
          options={form.lengthOptions.length === 0 ? [{ value: "", text: "nothing yet" }] : form.lengthOptions}
          onChange={(lengths) => onChange({ lengths, questions: null })}
        />
        <SelectField
          label="Weights read from"
          value={view.storage}
          options={storageOptions}
          onChange={(storage) => onChange({ storage })}
        />
      </div>
      <Notes items={form.strayed} role="status" className="text-sm text-warn [overflow-wrap:anywhere]" />
      <Check checked={view.single} onChange={(single) => onChange({ single })}>
        Each expert on one worker only
      </Check>
      {assigned.gone !== null && (
        <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-warn">
          <span className="[overflow-wrap:anywhere]">
            The address refers to the file {assigned.gone} but does not contain it: this placement uses the ensemble's skills. Upload the
            file again, or
          </span>
          <Button onClick={() => assigned.onSent(null)}>Leave it out</Button>
        </p>
      )}
      <details open={assigned.sent !== null || assigned.gone !== null}>
        <summary className="text-xs text-ink-3">Assign questions by a file</summary>
        <div className="mt-3 flex flex-col gap-1">
          <AssignmentsField sent={assigned.sent} onSent={assigned.onSent} />
          {assigned.sent !== null && (
            <p className="text-xs text-ink-3">
              The address names the file but does not contain it: others who open it must upload the file again. It is stored for a day.
            </p>
          )}
        </div>
      </details>
    </div>
  );
}

import { Check } from "../ui/Check";
import { NumberField, SelectField } from "../ui/Field";
import { type EnsemblesView, storages } from "./ensemblesCodec";
import { type PlaceForm, storageOptions } from "./preparePlaceForm";

const kOptions = [
  { value: "", text: "swept" },
  ...Array.from({ length: 16 }, (_, at) => ({ value: String(at + 1), text: String(at + 1) })),
];

/** What a placement depends on, all of it in the address. */
export function PlaceFields(props: {
  readonly form: PlaceForm;
  readonly view: EnsemblesView;
  readonly onChange: (change: Partial<EnsemblesView>) => void;
}) {
  const { form, view, onChange } = props;
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
          label="GPUs of a worker"
          whole
          value={form.gpusPerWorker}
          min={1}
          max={16}
          onChange={(perWorker) => onChange({ perWorker })}
        />
        <SelectField
          label="Models of a worker at most (K)"
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
          label="Answers as long as in"
          value={form.lengths}
          options={form.lengthOptions.length === 0 ? [{ value: "", text: "nothing yet" }] : form.lengthOptions}
          onChange={(lengths) => onChange({ lengths, questions: null })}
        />
        <SelectField
          label="Weights read from"
          value={view.storage}
          options={storageOptions}
          onChange={(value) => onChange({ storage: storages.find((storage) => storage === value) ?? "local-nvme" })}
        />
      </div>
      <Check checked={view.single} onChange={(single) => onChange({ single })}>
        Each expert on one worker alone
      </Check>
    </div>
  );
}

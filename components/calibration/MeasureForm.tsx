import { measuringBounds } from "@/solver/calibration/nextRun";
import { ReferenceField } from "../clusters/ReferenceField";
import { Check } from "../ui/Check";
import { NumberField, TextField } from "../ui/Field";
import { PermittedButton } from "../ui/PermittedButton";
import { concurrencyFault, type MeasuringForm } from "./prepareMeasuringOrder";

const { tp, pp, minutes, tokens } = measuringBounds;

/** The fields of a measurement: the engine, where its profile is filed, and the most load that it may get. */
export function MeasureForm(props: {
  readonly form: MeasuringForm;
  readonly onChange: (change: Partial<MeasuringForm>) => void;
  /** Whether nothing can be ordered now. */
  readonly disabled: boolean;
  readonly onSubmit: () => void;
}) {
  const { form, onChange } = props;
  return (
    <form
      className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      <TextField
        label="Address"
        value={form.url}
        maxLength={500}
        placeholder="such as http://127.0.0.1:8000"
        onChange={(url) => onChange({ url })}
      />
      <TextField label="Model" value={form.model} maxLength={200} placeholder="the only one" onChange={(model) => onChange({ model })} />
      <TextField
        label="GPU card"
        value={form.gpu}
        maxLength={80}
        placeholder="this host's processor"
        onChange={(gpu) => onChange({ gpu })}
      />
      <NumberField label="Tensor parallelism" value={form.tp} {...tp} onChange={(value) => onChange({ tp: value })} />
      <NumberField label="Pipeline stages" value={form.pp} {...pp} onChange={(value) => onChange({ pp: value })} />
      <NumberField label="Most minutes" value={form.minutes} {...minutes} onChange={(value) => onChange({ minutes: value })} />
      <NumberField label="Most tokens" value={form.tokens} {...tokens} step={100_000} onChange={(value) => onChange({ tokens: value })} />
      <TextField
        label="Most requests in flight"
        value={form.concurrency}
        maxLength={20}
        placeholder="as the engine takes"
        problem={concurrencyFault(form.concurrency) ?? undefined}
        onChange={(concurrency) => onChange({ concurrency })}
      />
      <ReferenceField label="API key" value={form.key} onChange={(key) => onChange({ key })} />
      <Check checked={form.servingOthers} onChange={(servingOthers) => onChange({ servingOthers })}>
        It may serve others meanwhile
      </Check>
      <PermittedButton permission="attach" type="submit" disabled={props.disabled}>
        Measure this engine
      </PermittedButton>
    </form>
  );
}

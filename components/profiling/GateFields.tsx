import { confidenceMeasures } from "@/solver/gates/gateDocument";
import { measureWords } from "@/solver/gates/gates";
import { Check } from "../ui/Check";
import { NumberField, SelectField } from "../ui/Field";
import type { ProfileForm } from "./profileForm";

const measures = confidenceMeasures.map((value) => ({ value, text: measureWords[value] }));

/** What is measured for gates that need no judge. */
export function GateFields(props: {
  readonly form: Pick<ProfileForm, "confidence" | "measure" | "samples">;
  readonly onChange: (change: Partial<ProfileForm>) => void;
}) {
  const { form, onChange } = props;
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-xs text-ink-3">Gates</legend>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
        <Check checked={form.confidence} onChange={(confidence) => onChange({ confidence })}>
          Log probabilities
        </Check>
        <SelectField
          label="Confidence"
          value={form.measure}
          options={measures}
          disabled={!form.confidence}
          onChange={(measure) => onChange({ measure })}
        />
        <NumberField
          label="Further samples of each answer"
          min={0}
          max={4}
          whole
          value={form.samples}
          onChange={(samples) => onChange({ samples })}
        />
      </div>
      <p className="text-xs text-ink-3">
        Log probabilities cost nothing and give the column confidence; samples are further calls and give the column agreement. Where texts
        of answers are kept, workloads also have a scorer that reads their words, if it is better than one that does not.
      </p>
    </fieldset>
  );
}

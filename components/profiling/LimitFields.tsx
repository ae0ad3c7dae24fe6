import { Check } from "../ui/Check";
import { NumberField } from "../ui/Field";
import type { ProfileForm } from "./profileForm";

const USUAL_CAP_USD = 10;
const USUAL_PER_MINUTE = 600;

/** Limits: concurrent calls, cost, and retention. */
export function LimitFields({ form, onChange }: { readonly form: ProfileForm; readonly onChange: (change: Partial<ProfileForm>) => void }) {
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
        <NumberField
          label="Calls at once to each model and judge"
          min={1}
          max={256}
          whole
          value={form.concurrency}
          onChange={(concurrency) => onChange({ concurrency })}
        />
        <NumberField
          label="Longest answer, where the prompt names no lower bound"
          unit="tokens"
          min={1}
          max={100_000}
          whole
          value={form.maxOutputTokens}
          onChange={(maxOutputTokens) => onChange({ maxOutputTokens })}
        />
      </div>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-1">
        <Check checked={form.requestsPerMinute !== null} onChange={(on) => onChange({ requestsPerMinute: on ? USUAL_PER_MINUTE : null })}>
          Limit the rate of all calls
        </Check>
        {form.requestsPerMinute !== null && (
          <NumberField
            label="At most"
            unit="calls a minute"
            min={1}
            max={100_000}
            whole
            value={form.requestsPerMinute}
            onChange={(requestsPerMinute) => onChange({ requestsPerMinute })}
          />
        )}
      </div>
      <div className="flex flex-wrap items-end gap-x-6 gap-y-1">
        <Check checked={form.capUsd !== null} onChange={(on) => onChange({ capUsd: on ? USUAL_CAP_USD : null })}>
          Cap the cost
        </Check>
        {form.capUsd !== null && (
          <NumberField
            label="Pause before it could spend more than"
            unit="$"
            min={0.000001}
            max={1_000_000}
            step={0.01}
            value={form.capUsd}
            onChange={(capUsd) => onChange({ capUsd })}
          />
        )}
      </div>
      <div>
        <Check checked={form.keepAnswers} onChange={(keepAnswers) => onChange({ keepAnswers })}>
          Keep the texts of answers
        </Check>
        <p className="text-xs text-ink-3">
          {form.keepAnswers
            ? "They are deleted with the texts of the sample. Labelling by hand needs them."
            : "Each is deleted as soon as it is judged: without them no labelling by hand and no measured trust of a judge."}
        </p>
      </div>
    </div>
  );
}

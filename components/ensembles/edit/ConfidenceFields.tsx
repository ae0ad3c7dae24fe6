import { NumberField, SelectField } from "@/components/ui/Field";
import type { AnswerSampleSummary } from "@/server/contracts/studio";
import { confidenceOptions, type EnsembleForm, figureOf, figuresOfSample } from "./prepareEnsemble";

/** The weights of votes and the figures of experts they need: typed, or taken from a sample of answers. */
export function ConfidenceFields(props: {
  readonly form: EnsembleForm;
  readonly samples: readonly AnswerSampleSummary[];
  readonly problem: string | undefined;
  readonly onChange: (change: Partial<EnsembleForm>) => void;
}) {
  const { form, samples, problem, onChange } = props;
  const long = form.confidence === "length-aware";
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          label="Confidence in the leading answer"
          value={form.confidence}
          options={confidenceOptions}
          problem={problem}
          onChange={(confidence) => onChange({ confidence })}
        />
        {form.confidence !== "plurality" && samples.length > 0 && (
          <SelectField
            label="Take figures from"
            value=""
            options={[{ value: "", text: "a sample of answers …" }, ...samples.map(({ id, name }) => ({ value: id, text: name }))]}
            onChange={(id) => {
              const sample = samples.find((each) => each.id === id);
              if (sample === undefined) return;
              const { accuracy, meanTokens } = figuresOfSample(sample);
              onChange({ accuracy: { ...form.accuracy, ...accuracy }, meanTokens: { ...form.meanTokens, ...meanTokens } });
            }}
          />
        )}
      </div>
      {form.confidence !== "plurality" && form.experts.length > 0 && (
        <fieldset className="grid gap-x-4 gap-y-2 sm:grid-cols-2">
          <legend className="mb-1 text-xs text-ink-3">{long ? "Tokens of an answer, on average" : "Accuracy"}</legend>
          {form.experts.map((expert) => (
            <NumberField
              key={expert}
              label={expert}
              unit={long ? "tokens" : "%"}
              min={long ? 1 : 0}
              max={long ? 1_000_000 : 100}
              value={figureOf(form, expert)}
              onChange={(figure) =>
                onChange(
                  long ? { meanTokens: { ...form.meanTokens, [expert]: figure } } : { accuracy: { ...form.accuracy, [expert]: figure } },
                )
              }
            />
          ))}
        </fieldset>
      )}
    </div>
  );
}

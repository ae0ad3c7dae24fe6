import { AreaField, NumberField } from "@/components/ui/Field";
import type { EnsembleForm, Problems } from "./prepareEnsemble";

const allowed = "0: as many as the engine allows";

/** Rarely used settings: bounds of answers, the aggregator's prompt, and the experts' accuracy by category. */
export function EnsembleAdvanced(props: {
  readonly form: EnsembleForm;
  readonly problems: Problems;
  readonly put: (change: Partial<EnsembleForm>) => void;
}) {
  const { form, problems, put } = props;
  return (
    <details>
      <summary className="text-xs text-ink-3">Advanced</summary>
      <div className="mt-3 flex flex-col gap-3">
        <div className="flex flex-wrap gap-x-4 gap-y-3">
          <NumberField
            label="Maximum tokens of an expert's answer"
            hint={allowed}
            whole
            min={0}
            max={1_000_000}
            value={form.maxTokens}
            problem={problems.maxTokens}
            onChange={(maxTokens) => put({ maxTokens })}
          />
          <NumberField
            label="Maximum tokens of the aggregator's answer"
            hint={allowed}
            whole
            min={0}
            max={1_000_000}
            value={form.aggregatorMaxTokens}
            onChange={(aggregatorMaxTokens) => put({ aggregatorMaxTokens })}
          />
        </div>
        <AreaField
          code
          label="Instructions of the aggregator; empty: Weir's default"
          value={form.instruction}
          rows={3}
          maxLength={4_000}
          onChange={(instruction) => put({ instruction })}
        />
        <AreaField
          code
          label="Skills: accuracy of experts by category, as JSON; the most accurate ones of a question's category answer it"
          value={form.skills}
          rows={4}
          maxLength={200_000}
          placeholder='{"*": {"model-a": 0.71}, "maths": {"model-a": 0.64}}'
          problem={problems.skills}
          onChange={(skills) => put({ skills })}
        />
      </div>
    </details>
  );
}

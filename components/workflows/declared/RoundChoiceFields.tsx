"use client";

import { Check } from "@/components/ui/Check";
import { NumberField, SelectField } from "@/components/ui/Field";
import { type RoundChoice, roundChoices } from "@/solver/plan/policySchema";
import { choiceOptions, choiceSays, withPrice } from "./prepareRoundChoice";

/** How rounds choose models: by throughput or by worth, each with its numbers. */
export function RoundChoiceFields(props: { readonly choice: RoundChoice; readonly onChange: (choice: RoundChoice) => void }) {
  const { choice, onChange } = props;
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label="Rounds choose models"
        value={choice.kind}
        options={choiceOptions}
        onChange={(kind) => onChange(roundChoices[kind])}
      />
      <p className="text-xs text-ink-3">{choiceSays[choice.kind]}</p>
      {choice.kind === "beam" ? (
        <details>
          <summary className="text-xs text-ink-3">Advanced</summary>
          <NumberField
            className="mt-2"
            label="Beam width"
            unit="partial assignments"
            hint="Number of assignments that a round keeps; 1 takes the best for each request in turn."
            value={choice.width}
            min={1}
            max={64}
            whole
            onChange={(width) => onChange({ ...choice, width })}
          />
        </details>
      ) : (
        <div className="grid gap-3 sm:grid-cols-2">
          <NumberField
            label="A right answer is worth"
            unit="s"
            hint="Seconds that a request outside workflows may take longer for a right answer, by its router's scores. 0: time alone decides."
            value={choice.rightSeconds}
            min={0}
            max={3600}
            onChange={(rightSeconds) => onChange({ ...choice, rightSeconds })}
          />
          <NumberField
            label="Delay of others counts"
            unit="times"
            hint="How much a second counts by which a request delays those that wait, against a second of its own; those that run count once at most. 0: only its own time counts."
            value={choice.delayWeight}
            min={0}
            max={10}
            onChange={(delayWeight) => onChange({ ...choice, delayWeight })}
          />
          <Check checked={choice.priced === true} onChange={(asked) => onChange(withPrice(choice, asked))}>
            Tokens of loaded models have a price, from the plan's loads
          </Check>
        </div>
      )}
    </div>
  );
}

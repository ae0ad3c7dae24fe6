"use client";

import { Check } from "@/components/ui/Check";
import { NumberField, SelectField } from "@/components/ui/Field";
import { formatFinePercent } from "@/components/ui/format";
import { ModelMark } from "@/components/ui/ModelChip";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { AnswerSampleSummary, KeptEnsemble } from "@/server/contracts/studio";
import type { EnsemblesView } from "../address/ensemblesCodec";
import { confidenceOptions } from "../edit/prepareEnsemble";
import { type GateChoice, NO_AGGREGATOR } from "./prepareGateChoice";
import { sampleOptions } from "./prepareSamples";

/**
 * The gate's inputs: which sample, which experts, how votes count, and which model replaces the aggregator. All of it is in the address.
 */
export function GateChoiceForm(props: {
  readonly choice: GateChoice;
  readonly samples: readonly AnswerSampleSummary[];
  readonly ensembles: readonly KeptEnsemble[];
  readonly ensemble: string | null;
  readonly onChange: (change: Partial<EnsemblesView>) => void;
}) {
  const { choice, samples, ensembles, onChange } = props;
  const { sample, request } = choice;
  const models = sample.models.map(({ model }) => model);
  const identities = useModelIdentities(models);
  return (
    <form className="flex flex-col gap-4" aria-label="Gate" onSubmit={(event) => event.preventDefault()}>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          className="min-w-0 max-w-xl"
          label="Sample"
          value={sample.id}
          options={sampleOptions(samples)}
          onChange={(id) => onChange({ sample: id, experts: null, aggregator: null, asked: null, tau: null })}
        />
        {ensembles.length > 0 && (
          <SelectField
            label="Ensemble"
            value={props.ensemble ?? ""}
            options={ensembles.map(({ ensemble, version }) => ({ value: ensemble.name, text: `${ensemble.name} v${version}` }))}
            onChange={(name) => onChange({ ensemble: name, experts: null, aggregator: null, asked: null, confidence: null, tau: null })}
          />
        )}
        <SelectField
          label="Confidence"
          value={request.confidence}
          options={confidenceOptions}
          onChange={(confidence) => onChange({ confidence, tau: null })}
        />
        <SelectField
          label="Aggregator (modelled)"
          value={request.aggregator ?? NO_AGGREGATOR}
          options={[{ value: NO_AGGREGATOR, text: "none" }, ...models.map((model) => ({ value: model, text: model }))]}
          onChange={(aggregator) => onChange({ aggregator, tau: null })}
        />
        <NumberField
          label="May cost"
          unit="points of accuracy"
          value={request.allowedPoints}
          min={0}
          max={20}
          step={0.5}
          onChange={(allowed) => onChange({ allowed })}
        />
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="text-xs text-ink-3">Experts</legend>
        <div className="flex flex-wrap gap-x-6">
          {sample.models.map(({ model, accuracy }) => {
            const identity = identities.get(model);
            return (
              <Check
                key={model}
                checked={request.experts.includes(model)}
                onChange={(checked) =>
                  onChange({ experts: models.filter((each) => (each === model ? checked : request.experts.includes(each))), tau: null })
                }
              >
                <span className="inline-flex items-center gap-1.5">
                  {identity !== undefined && <ModelMark identity={identity} />}
                  {model} <span className="text-xs text-ink-3">{formatFinePercent(accuracy)}</span>
                </span>
              </Check>
            );
          })}
        </div>
        {request.experts.length > 2 && (
          <SelectField
            className="max-w-72"
            label="Experts that answer a question"
            value={String(request.expertsPerQuestion)}
            options={Array.from({ length: request.experts.length - 1 }, (_, at) => ({
              value: String(at + 2),
              text: at + 2 === request.experts.length ? `all ${at + 2}` : `${at + 2} of ${request.experts.length}, the most accurate`,
            }))}
            onChange={(asked) => onChange({ asked: Number(asked), tau: null })}
          />
        )}
      </fieldset>
    </form>
  );
}

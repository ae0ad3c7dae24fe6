import { SelectField } from "../ui/Field";
import { AddressFields, PriceFields } from "./AnswererFields";
import type { EndpointCluster } from "./profileEndpoints";
import { type AnswererForm, atUrl, ofCluster } from "./profileForm";

const elsewhere = "elsewhere";
const optionOf = (clusterId: string, model: string): string => JSON.stringify([clusterId, model]);

interface Judge {
  readonly value: AnswererForm;
  readonly onChange: (judge: AnswererForm) => void;
}

/** The judge: a cluster's own, a model that runs there, or one at another address. */
export function JudgeSelect({ value, ground, onChange }: Judge & { readonly ground: readonly EndpointCluster[] }) {
  const there = ground.flatMap(({ id, name, judges, models }) => [
    ...judges.map((model) => ({ clusterId: id, model, text: `${model}, judge of ${name}` })),
    ...models.filter(({ model }) => !judges.includes(model)).map(({ model }) => ({ clusterId: id, model, text: `${model} on ${name}` })),
  ]);
  const { clusterId, model } = value;
  const isGone = clusterId !== null && !there.some((each) => each.clusterId === clusterId && each.model === model);
  const options = [
    ...there.map((each) => ({ value: optionOf(each.clusterId, each.model), text: each.text })),
    ...(isGone ? [{ value: optionOf(clusterId, model), text: `${model}, not there now` }] : []),
    { value: elsewhere, text: "at another address" },
  ];
  return (
    <SelectField
      label="Judge"
      className="max-w-full flex-1 basis-64"
      value={clusterId === null ? elsewhere : optionOf(clusterId, model)}
      options={options}
      onChange={(chosen) => {
        const one = there.find((each) => optionOf(each.clusterId, each.model) === chosen);
        if (one !== undefined) onChange(ofCluster(one.clusterId, one.model));
        else if (chosen === elsewhere) onChange(atUrl);
      }}
    />
  );
}

/** A judge's token prices, and its address if it is not on a cluster. `measure`: its name, for labels. */
export function JudgeDetails({ measure, value, onChange }: Judge & { readonly measure: string }) {
  const put = (change: Partial<AnswererForm>): void => onChange({ ...value, ...change });
  if (value.clusterId === null) return <AddressFields who="the judge" value={value} onChange={put} />;
  const { usdPerMillionInputTokens: input, usdPerMillionOutputTokens: output } = value;
  return (
    <details>
      <summary className="text-xs text-ink-3">
        {input + output === 0 ? "The judge costs nothing more" : `The judge costs $${input} in, $${output} out a million tokens`}
        <span className="sr-only">, {measure}</span>
      </summary>
      <div className="flex flex-wrap items-end gap-3 py-1">
        <PriceFields who="the judge" value={value} onChange={put} />
      </div>
    </details>
  );
}

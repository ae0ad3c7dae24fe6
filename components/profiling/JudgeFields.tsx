import { SelectField } from "../ui/Field";
import { AddressFields, PriceFields } from "./AnswererFields";
import { type AnswererForm, atUrl, ofCluster } from "./profileForm";
import type { GroundCluster } from "./profileGround";

const elsewhere = "elsewhere";
const optionOf = (clusterId: string, model: string): string => JSON.stringify([clusterId, model]);

/** Who judges: a cluster's own judge, a model that runs there, or somebody at another address. `measure`: its name, for labels. */
export function JudgeFields(props: {
  readonly measure: string;
  readonly value: AnswererForm;
  readonly ground: readonly GroundCluster[];
  readonly onChange: (judge: AnswererForm) => void;
}) {
  const { measure, value, ground, onChange } = props;
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
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <SelectField
          label={`Judge of ${measure}`}
          className="max-w-full basis-72"
          value={clusterId === null ? elsewhere : optionOf(clusterId, model)}
          options={options}
          onChange={(chosen) => {
            const one = there.find((each) => optionOf(each.clusterId, each.model) === chosen);
            if (one !== undefined) onChange(ofCluster(one.clusterId, one.model));
            else if (chosen === elsewhere) onChange(atUrl);
          }}
        />
        {clusterId !== null && (
          <details>
            <summary className="text-xs text-ink-3">
              Price<span className="sr-only"> of the judge of {measure}</span>
            </summary>
            <div className="flex flex-wrap items-end gap-3 py-1">
              <PriceFields who={`the judge of ${measure}`} value={value} onChange={(change) => onChange({ ...value, ...change })} />
            </div>
          </details>
        )}
      </div>
      {clusterId === null && (
        <AddressFields who={`the judge of ${measure}`} value={value} onChange={(change) => onChange({ ...value, ...change })} />
      )}
    </div>
  );
}

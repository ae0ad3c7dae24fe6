import { ReferenceField } from "../clusters/ReferenceField";
import { NumberField, TextField } from "../ui/Field";
import type { AnswererForm } from "./profileForm";

const MAX_PRICE = 10_000;

/** The token prices of a model that answers. */
export function PriceFields(props: {
  readonly who: string;
  readonly value: AnswererForm;
  readonly onChange: (change: Partial<AnswererForm>) => void;
}) {
  const { who, value, onChange } = props;
  return (
    <>
      <NumberField
        label={`Input price of ${who}`}
        unit="$/M tokens"
        min={0}
        max={MAX_PRICE}
        step={0.01}
        value={value.usdPerMillionInputTokens}
        onChange={(usdPerMillionInputTokens) => onChange({ usdPerMillionInputTokens })}
      />
      <NumberField
        label={`Output price of ${who}`}
        unit="$/M tokens"
        min={0}
        max={MAX_PRICE}
        step={0.01}
        value={value.usdPerMillionOutputTokens}
        onChange={(usdPerMillionOutputTokens) => onChange({ usdPerMillionOutputTokens })}
      />
    </>
  );
}

/** A model at an OpenAI-compatible address: its address, name and access. */
export function AddressFields(props: {
  readonly who: string;
  readonly value: AnswererForm;
  /** Cards offered for a candidate model; left out for a judge, which needs none. */
  readonly cards?: readonly string[];
  readonly onChange: (change: Partial<AnswererForm>) => void;
}) {
  const { who, value, cards, onChange } = props;
  return (
    <>
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label={`Address of ${who}`}
          className="flex-1 basis-56"
          value={value.url}
          placeholder="https://models.example.com"
          onChange={(url) => onChange({ url })}
        />
        <TextField
          label={cards === undefined ? `Name that ${who} serves under` : `Model card of ${who}`}
          className="flex-1 basis-44"
          value={value.model}
          placeholder={cards === undefined ? "judge" : "such as llama-3.1-8b"}
          {...(cards === undefined ? {} : { suggestions: cards })}
          onChange={(model) => onChange({ model })}
        />
        {cards !== undefined && (
          <TextField
            label="Name it serves under"
            className="flex-1 basis-44"
            value={value.servedName}
            placeholder="as the card"
            maxLength={500}
            onChange={(servedName) => onChange({ servedName })}
          />
        )}
      </div>
      <div className="flex flex-wrap items-end gap-3">
        <ReferenceField label={`Key of ${who}`} value={value.key} onChange={(key) => onChange({ key })} />
        {value.url.trim().startsWith("https:") && (
          <TextField
            label="CA file in the folder of secrets"
            className="flex-1 basis-48"
            value={value.caFile}
            placeholder="none: public authorities"
            maxLength={1000}
            onChange={(caFile) => onChange({ caFile })}
          />
        )}
        <PriceFields who={who} value={value} onChange={onChange} />
      </div>
    </>
  );
}

import { SelectField, TextField } from "../ui/Field";
import type { ReferenceForm } from "./prepareAttach";

const choices = [
  { value: "none", text: "none" },
  { value: "environment", text: "in a variable" },
  { value: "file", text: "in a file" },
] as const;

/** Where a secret is. The secret itself is never typed into the studio. */
export function ReferenceField(props: {
  readonly label: string;
  readonly value: ReferenceForm;
  readonly onChange: (value: ReferenceForm) => void;
}) {
  const { label, value, onChange } = props;
  return (
    <div className="flex min-w-0 flex-wrap items-end gap-2">
      <SelectField
        label={label}
        value={value.from}
        options={choices}
        onChange={(chosen) => onChange({ ...value, from: choices.find((each) => each.value === chosen)?.value ?? "none" })}
      />
      {value.from !== "none" && (
        <TextField
          label={value.from === "environment" ? "Variable" : "File in WEIR_SECRETS_DIR"}
          className="flex-1 basis-48"
          value={value.text}
          placeholder={value.from === "environment" ? "WEIR_ENGINE_KEY" : "engine-key"}
          maxLength={1000}
          onChange={(text) => onChange({ ...value, text })}
        />
      )}
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { useAllowed } from "../api/useMe";
import { SelectField, TextField } from "../ui/Field";
import { type ReferenceForm, referenceHint } from "./prepareAttach";

const choices = [
  { value: "none", text: "none" },
  { value: "file", text: "in a file" },
  { value: "environment", text: "in a variable" },
] as const;

/** Where a secret is. The secret itself is never typed into the studio. */
export function ReferenceField(props: {
  readonly label: string;
  readonly value: ReferenceForm;
  readonly onChange: (value: ReferenceForm) => void;
}) {
  const { label, value, onChange } = props;
  const enabled = useAllowed("attach");
  const folder = useQuery(useTRPC().clusters.secretsFolder.queryOptions(undefined, { enabled, staleTime: Number.POSITIVE_INFINITY })).data;
  const hint = folder === undefined ? null : referenceHint(value, folder);
  return (
    <div className="flex min-w-0 flex-wrap items-end gap-2">
      <SelectField label={label} value={value.from} options={choices} onChange={(from) => onChange({ ...value, from })} />
      {value.from !== "none" && (
        <TextField
          label={value.from === "environment" ? "Variable" : "Name of the file"}
          className="flex-1 basis-48"
          value={value.text}
          placeholder={value.from === "environment" ? "WEIR_ENGINE_KEY" : "engine-key"}
          maxLength={1000}
          onChange={(text) => onChange({ ...value, text })}
        />
      )}
      {hint !== null && <p className="basis-full text-xs text-ink-2 [overflow-wrap:anywhere]">{hint}</p>}
    </div>
  );
}

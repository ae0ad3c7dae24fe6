import type { ReactNode } from "react";
import { SelectField } from "@/components/ui/Field";

/** Shown where an address names an ensemble that does not exist: links to the existing ones and to other actions. */
export function OtherEnsembles(props: {
  readonly label: string;
  readonly names: readonly string[];
  readonly onEnsemble: (name: string) => void;
  readonly children?: ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-end justify-center gap-3 text-left">
      {props.names.length > 0 && (
        <SelectField
          className="min-w-48"
          label={props.label}
          value=""
          options={[{ value: "", text: "choose one" }, ...props.names.map((name) => ({ value: name, text: name }))]}
          onChange={(name) => name !== "" && props.onEnsemble(name)}
        />
      )}
      {props.children}
    </div>
  );
}

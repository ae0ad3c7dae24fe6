import { useId } from "react";
import { ErrorLine } from "./ErrorLine";

/** A file chooser, with the chosen file and the result of its upload. */
export function FilePicker(props: {
  readonly label: string;
  readonly hint: string;
  /** The state of the file's upload. */
  readonly sending: { readonly isPending: boolean; readonly error: { readonly message: string } | null };
  /** The file's survey; left out: not available yet. */
  readonly note?: string | null;
  readonly onFile: (file: File) => void;
  /** File types that the system's chooser offers; left out: CSV. */
  readonly accept?: string;
}) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {props.label}
      </label>
      <input
        id={id}
        type="file"
        accept={props.accept ?? ".csv,text/csv"}
        disabled={props.sending.isPending}
        aria-describedby={`${id}-hint`}
        className="text-sm file:mr-3 file:h-8 file:rounded-md file:border file:border-line-strong file:bg-raised file:px-3 file:text-sm file:font-medium file:text-ink"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file !== undefined) props.onFile(file);
        }}
      />
      <p id={`${id}-hint`} className="text-xs text-ink-3">
        {props.hint}
      </p>
      {props.sending.isPending && (
        <p role="status" className="text-sm text-ink-2">
          Sending and reading it …
        </p>
      )}
      {props.note && <p className="text-sm text-ink-2">{props.note}</p>}
      <ErrorLine error={props.sending.error} />
    </div>
  );
}

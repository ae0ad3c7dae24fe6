import { useId } from "react";
import { ErrorLine } from "./ErrorLine";

/** A file to choose, with what was chosen and what came of it. */
export function FilePicker(props: {
  readonly label: string;
  readonly hint: string;
  /** How the upload of the file goes. */
  readonly sending: { readonly isPending: boolean; readonly error: { readonly message: string } | null };
  /** What was found in it; left out: nothing to say yet. */
  readonly note?: string | null;
  readonly onFile: (file: File) => void;
  /** What the system's own chooser offers; left out: CSV. */
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

import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatGibibytes, formatPercent } from "../ui/format";
import { type PromptUpload, uploadPrompts } from "./uploadPrompts";

const MEGABYTE = 1024 ** 2;

/** The size of a file for display: `12 MB`, `1.4 GiB`. */
const sizeText = (bytes: number): string =>
  bytes >= 1024 * MEGABYTE ? formatGibibytes(bytes) : `${Math.max(1, Math.round(bytes / MEGABYTE))} MB`;

/** Uploads a file of prompts and shows the progress. Leaving the page cancels it. */
export function PromptFile({ onUpload }: { readonly onUpload: (upload: PromptUpload) => void }) {
  const id = useId();
  const [sent, setSent] = useState(0);
  const aborting = useRef<AbortController | null>(null);
  useEffect(() => () => aborting.current?.abort(), []);
  const upload = useMutation({
    mutationFn: (file: File) => {
      const controller = new AbortController();
      aborting.current = controller;
      setSent(0);
      return uploadPrompts(file, { onSent: setSent, signal: controller.signal });
    },
    onSuccess: onUpload,
  });
  const file = upload.variables;
  const calledOff = upload.error?.name === "AbortError";
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-sm font-medium">
        File of prompts
      </label>
      <input
        id={id}
        type="file"
        accept=".jsonl,.ndjson,.json,.csv,.gz,text/csv,application/x-ndjson"
        disabled={upload.isPending}
        aria-describedby={`${id}-hint`}
        className="max-w-full text-sm file:mr-3 file:h-8 file:rounded-md file:border file:border-line-strong file:bg-raised file:px-3 file:text-sm file:font-medium file:text-ink"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          if (chosen !== undefined) upload.mutate(chosen);
          // The same file can be chosen again after it was corrected.
          event.target.value = "";
        }}
      />
      <p id={`${id}-hint`} className="max-w-prose text-xs text-ink-3">
        JSON lines up to 2 GB: an OpenAI batch file (custom_id, body), or chat lines (messages, and where you have them id, category,
        timestamp, reference, test). Or CSV with a column prompt. A line that cannot be read is named and skipped.
      </p>
      {upload.isPending && file !== undefined && (
        <div className="flex flex-col gap-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-2">
            <span role="status" className="min-w-0 [overflow-wrap:anywhere]">
              {sent < 1 ? `Sending ${file.name} …` : `Reading ${file.name} …`}
            </span>
            <span className="text-ink-3">
              {sent < 1 ? `${formatPercent(sent)} of ${sizeText(file.size)}` : "each line is checked once"}
            </span>
            <Button className="ml-auto" onClick={() => aborting.current?.abort()}>
              Cancel upload
            </Button>
          </div>
          <div
            role="progressbar"
            aria-label={`Sent of ${file.name}`}
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={Math.round(sent * 100)}
            className="h-1.5 overflow-hidden rounded bg-line"
          >
            <div className="h-full rounded bg-accent" style={{ width: `${sent * 100}%` }} />
          </div>
        </div>
      )}
      {calledOff ? <p className="text-sm text-ink-3">Upload cancelled.</p> : <ErrorLine error={upload.error} />}
    </div>
  );
}

"use client";

import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { AreaField } from "../ui/Field";
import { FindingList } from "./FindingList";

/**
 * A connection as YAML: tested as it is, nothing stored, and accepted only in the form that was tested.
 *
 * @param props.act actions for a connection that was tested and can be used; null while there is none.
 */
export function ConnectionEditor(props: {
  readonly label: string;
  readonly start: string;
  readonly act: (connection: unknown) => ReactNode;
  /** Next to the button that tries, whatever was tried. */
  readonly aside?: ReactNode;
}) {
  const { label, start, act } = props;
  const client = useTRPCClient();
  const [text, setText] = useState(start);
  const trial = useMutation({
    mutationFn: async (asked: string) => ({ asked, ...(await client.clusters.tryConnection.mutate({ text: asked })) }),
  });
  const tried = trial.data?.asked === text ? trial.data : null;
  const usable = tried !== null && tried.connection !== null;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <AreaField label={label} rows={Math.min(28, Math.max(8, text.split("\n").length))} code value={text} onChange={setText} />
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={trial.isPending || text.trim() === ""} onClick={() => trial.mutate(text)}>
          {trial.isPending ? "Trying …" : "Try connection"}
        </Button>
        {text !== start && (
          <Button look="quiet" onClick={() => setText(start)}>
            Revert
          </Button>
        )}
        {props.aside}
      </div>
      <ErrorLine error={trial.error} />
      <div role="status" className="flex flex-col gap-2">
        {tried !== null && <FindingList findings={tried.findings} label="What was found" onAllowed={() => trial.mutate(text)} />}
        {trial.data !== undefined && tried === null && !trial.isPending && (
          <p className="text-sm text-ink-2">The text has changed since it was tried.</p>
        )}
      </div>
      {tried?.text != null && tried.text !== text && (
        <details>
          <summary className="text-xs text-ink-3">Stored form, with defaults</summary>
          <pre className="mt-2 overflow-x-auto rounded-md bg-sunken p-2 font-mono text-xs">{tried.text}</pre>
        </details>
      )}
      {act(usable ? tried.connection : null)}
    </div>
  );
}

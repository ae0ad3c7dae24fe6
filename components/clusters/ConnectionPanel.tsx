"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { ErrorLine } from "../ui/ErrorLine";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { ConnectionEditor } from "./ConnectionEditor";
import { guessedValues } from "./guessedValues";

/** How the studio reaches a cluster, as YAML; only a tested text can replace it. */
export function ConnectionPanel({ clusterId, text }: { readonly clusterId: string; readonly text: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [editing, setEditing] = useState(false);
  const guessed = useMemo(() => guessedValues(text), [text]);
  const change = useMutation({
    mutationFn: async (connection: unknown) => unwrapOutcome(await client.clusters.change.mutate({ clusterId, connection })),
    onSuccess: async () => {
      await queries.invalidateQueries(trpc.clusters.pathFilter());
      setEditing(false);
    },
  });
  return (
    <Panel title="Connection">
      {editing ? (
        <ConnectionEditor
          label="Connection, YAML or JSON"
          start={text}
          aside={
            <Button look="quiet" onClick={() => setEditing(false)}>
              Discard changes
            </Button>
          }
          act={(connection) => (
            <>
              <ErrorLine error={change.error} />
              <div className="flex flex-wrap items-center gap-3">
                <Button look="primary" disabled={connection === null || change.isPending} onClick={() => change.mutate(connection)}>
                  Change connection
                </Button>
                {connection === null && <span className="text-sm text-ink-2">Try the connection before you save it.</span>}
              </div>
            </>
          )}
        />
      ) : (
        <div className="flex flex-col gap-3">
          {guessed !== null && (
            <div className="flex flex-col gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
              <p className="text-warn">Guessed when it was attached, not confirmed yet:</p>
              <NoteList items={guessed.lines} className="list-none" />
              <div>
                <Button disabled={change.isPending} onClick={() => change.mutate(guessed.confirmed)}>
                  Confirm
                </Button>
              </div>
              <ErrorLine error={change.error} />
            </div>
          )}
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
            tabIndex={0}
            className="max-h-80 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs"
          >
            {text}
          </pre>
          <div className="flex flex-wrap items-center gap-2 text-xs">
            <PermittedButton permission="attach" onClick={() => setEditing(true)}>
              Edit connection
            </PermittedButton>
            <CopyButton text={text} label="Copy YAML" />
          </div>
        </div>
      )}
    </Panel>
  );
}

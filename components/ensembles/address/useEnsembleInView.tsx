"use client";

import { useState } from "react";
import { Button } from "@/components/ui/Button";
import type { PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import type { KeptEnsemble } from "@/server/contracts/studio";
import { type EnsemblesView, ensembleInView } from "./ensemblesCodec";
import { OtherEnsembles } from "./OtherEnsembles";
import { useEnsembles } from "./useEnsembles";

interface EnsembleInView {
  readonly ensembles: readonly KeptEnsemble[];
  /** null: there is none, or none of the name in the address; never a different one. */
  readonly kept: KeptEnsemble | null;
  /** Ready with `kept`; otherwise that ensembles are being read, that there is none yet, or none of that name, with links. */
  readonly status: PanelStatus;
}

/** The ensemble that the address names, else the first. */
export function useEnsembleInView(
  named: string | null,
  write: (change: Partial<EnsemblesView>, how: "push" | "replace") => void,
): EnsembleInView {
  const query = useEnsembles();
  const [asked, setAsked] = useState(() => ({ named, sinceMs: Date.now() }));
  if (asked.named !== named) setAsked({ named, sinceMs: Date.now() });
  const ensembles = query.data ?? [];
  const kept = ensembleInView(ensembles, named);
  const onNew = () => write({ tab: "place", open: "new" }, "push");
  // An ensemble that was just saved is not in a list requested before that.
  const none: PanelStatus | false =
    kept !== null
      ? false
      : query.isFetching && query.dataUpdatedAt < asked.sinceMs
        ? { kind: "loading", what: "Reading ensembles" }
        : named === null
          ? {
              kind: "empty",
              title: "No ensemble yet",
              text: "An ensemble is two or more models that answer the same question, and an aggregator that combines their answers where they disagree.",
              action: <Button onClick={onNew}>Make an ensemble</Button>,
            }
          : {
              kind: "empty",
              title: `There is no ensemble ${named}`,
              text: "It was removed or renamed, or the address is incomplete.",
              action: (
                <OtherEnsembles
                  label="Existing ensembles"
                  names={ensembles.map(({ ensemble }) => ensemble.name)}
                  onEnsemble={(ensemble) => write({ ensemble }, "replace")}
                >
                  <Button onClick={onNew}>New ensemble</Button>
                </OtherEnsembles>
              ),
            };
  return { ensembles, kept, status: queryStatus(query, { what: "Reading ensembles", empty: none }) };
}

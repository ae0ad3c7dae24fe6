"use client";

import { useState } from "react";
import type { KeptEnsemble } from "@/server/contracts/studio";
import { Button } from "../ui/Button";
import type { PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import type { EnsemblesView } from "./ensemblesCodec";
import { OtherEnsembles } from "./OtherEnsembles";
import { ensembleInView } from "./preparePlaceForm";
import { useEnsembles } from "./useEnsembles";

interface EnsembleInView {
  readonly ensembles: readonly KeptEnsemble[];
  /** null: there is none, or none of the name that the address has; never another in its place. */
  readonly kept: KeptEnsemble | null;
  /** Ready with `kept`; else that ensembles are read, that there is none yet, or none of that name, with the way out. */
  readonly status: PanelStatus;
}

/** The ensemble that the address names, where it names none the first. */
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
  // One that was kept a moment ago is not in a list from before it was asked for.
  const none: PanelStatus | false =
    kept !== null
      ? false
      : query.isFetching && query.dataUpdatedAt < asked.sinceMs
        ? { kind: "loading", what: "Reading ensembles" }
        : named === null
          ? {
              kind: "empty",
              title: "There is no ensemble yet",
              text: "An ensemble is two or more models that answer the same question, and one that makes an answer of theirs where they disagree.",
              action: <Button onClick={onNew}>Make an ensemble</Button>,
            }
          : {
              kind: "empty",
              title: `There is no ensemble ${named}`,
              text: "It was removed or is called otherwise now, or the address is not whole.",
              action: (
                <OtherEnsembles
                  label="Ensembles that there are"
                  names={ensembles.map(({ ensemble }) => ensemble.name)}
                  onEnsemble={(ensemble) => write({ ensemble }, "replace")}
                >
                  <Button onClick={onNew}>New ensemble</Button>
                </OtherEnsembles>
              ),
            };
  return { ensembles, kept, status: queryStatus(query, { what: "Reading ensembles", empty: none }) };
}

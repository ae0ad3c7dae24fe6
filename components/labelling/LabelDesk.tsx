"use client";

import { useEffect, useRef, useState } from "react";
import { createPageKeys, takesKeys } from "../shell/pageKeys";
import { ErrorLine } from "../ui/ErrorLine";
import { formatCount } from "../ui/format";
import { PanelState } from "../ui/PanelState";
import { ChoiceBar } from "./ChoiceBar";
import { choiceOf, type LabelKind, labelChoices, labelMeaning } from "./labelChoices";
import { TaskView } from "./TaskView";
import { type Labelling, useLabelling } from "./useLabelling";

/** Calls `onKey` with each key that the page handles. */
function useKeys(onKey: (key: string) => boolean): void {
  const latest = useRef(onKey);
  useEffect(() => {
    latest.current = onKey;
  });
  useEffect(() => {
    const read = createPageKeys();
    function onKeyDown(event: KeyboardEvent) {
      if (takesKeys(event.target)) return;
      const key = read(event);
      if (key !== null && latest.current(key)) event.preventDefault();
    }
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** How many are labelled, out of the recommended number. */
function Progress({ labelled, advised }: { readonly labelled: number; readonly advised: number }) {
  const left = advised - labelled;
  return (
    <div className="flex items-center gap-3 text-sm">
      <div
        role="progressbar"
        aria-label="Labelled of the advised number"
        aria-valuemin={0}
        aria-valuemax={advised}
        aria-valuenow={Math.min(labelled, advised)}
        className="h-1.5 w-40 max-w-full overflow-hidden rounded bg-line-strong"
      >
        <div className="h-full bg-accent" style={{ width: `${(100 * Math.min(labelled, advised)) / Math.max(1, advised)}%` }} />
      </div>
      <span data-testid="labelled">
        {formatCount(labelled)} of {formatCount(advised)} advised
        <span className="text-ink-3">{left > 0 ? "" : ": more labels hardly narrow the intervals"}</span>
      </span>
    </div>
  );
}

const allDone = (skipped: number): string =>
  skipped === 0
    ? "Everything is labelled. The result for each measure is below."
    : `Everything is labelled but ${formatCount(skipped)} that you skipped: they return some hours after you stop.`;

/** The current task, or a note that there is none. */
function Task({ labelling, kind, ...acts }: { readonly labelling: Labelling; readonly kind: LabelKind } & Acts) {
  const { progress, sending } = labelling;
  if (progress === null) return null;
  const { task, labelled, skipped } = progress;
  return (
    <>
      {task !== null && <TaskView key={task.index} task={task} />}
      {task === null && (
        <p className="rounded-lg border bg-panel p-6 text-center text-sm text-ink-2">
          {sending ? "Loading the next one." : allDone(skipped)}
        </p>
      )}
      <ChoiceBar kind={kind} disabled={task === null} canUndo={labelled > 0} {...acts} />
    </>
  );
}

interface Acts {
  readonly onGive: (quality: number) => void;
  readonly onSkip: () => void;
  readonly onUndo: () => void;
}

/** Labelling: by keyboard, by buttons, and with announcements for screen readers. */
export function LabelDesk({ jobId, kind }: { readonly jobId: string; readonly kind: LabelKind }) {
  const labelling = useLabelling(jobId, kind);
  const [said, setSaid] = useState("");
  const { progress, status, error } = labelling;

  function give(quality: number): void {
    if (progress === null || progress.task === null) return;
    const word = labelChoices[kind].find((choice) => choice.quality === quality)?.word ?? String(quality);
    // The count makes each announcement a different text; an equal one would not be read out.
    setSaid(`${word}. ${progress.labelled + 1} labelled.${progress.after === null ? "" : " The next one is shown."}`);
    labelling.give(quality);
  }
  function skip(): void {
    if (progress === null || progress.task === null) return;
    setSaid(`Skipped without a label. ${progress.skipped + 1} skipped.${progress.after === null ? "" : " The next one is shown."}`);
    labelling.skip();
  }
  function undo(): void {
    if (progress === null || progress.labelled === 0) return;
    setSaid(`The last label is undone. ${progress.labelled - 1} labelled.`);
    labelling.undo();
  }
  useKeys((key) => {
    const choice = choiceOf(kind, key);
    if (choice !== null) give(choice.quality);
    else if (key === "s") skip();
    else if (key === "u") undo();
    else return false;
    return true;
  });

  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-6 gap-y-1">
        <p className="max-w-prose text-sm text-ink-2">
          {labelMeaning[kind]} The model that answered is hidden{kind === "two" ? ", and sides are shuffled" : ""}.
        </p>
        {progress !== null && <Progress {...progress} />}
      </div>
      <ErrorLine error={error} />
      <PanelState status={status}>{() => <Task labelling={labelling} kind={kind} onGive={give} onSkip={skip} onUndo={undo} />}</PanelState>
      <p role="status" className="sr-only">
        {said}
      </p>
    </div>
  );
}

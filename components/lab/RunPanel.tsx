"use client";

import type { LabRun } from "@/server/contracts/studio";
import { useLabAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { ProgressBar } from "../charts/ProgressBar";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatDate } from "../ui/format";
import { Panel } from "../ui/Panel";
import { progressText, stateTones } from "./prepareRun";
import { placedRefusal } from "./prepareSetup";

/** A run: its progress, how to cancel it, and what a reader must know before trusting its figures. */
export function RunPanel({ run, onGoOn }: { readonly run: LabRun; readonly onGoOn: (id: string) => void }) {
  const client = useTRPCClient();
  const cancel = useLabAct(() => client.lab.cancel.mutate({ id: run.id }));
  // With changed inputs, such as other cards, it is another run, which is then shown.
  const goOn = useLabAct(
    () => client.lab.start.mutate(run.spec),
    ({ id }) => onGoOn(id),
  );
  const cellsDone = run.cells.length;
  return (
    <Panel
      title="Run"
      aside={
        <>
          <span>
            started {formatDate(run.createdAt)} by {run.actor}
          </span>
          <span role="status" data-testid="lab-state">
            <StateWord tone={stateTones[run.state]}>{run.state}</StateWord>
          </span>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0 flex-1 basis-60 text-sm" data-testid="lab-progress">
            {progressText({ ...run, cellsDone })}
          </p>
          {run.state === "running" && (
            <Button disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              {cancel.isPending ? "Cancelling …" : "Cancel"}
            </Button>
          )}
          {run.state !== "running" && run.state !== "done" && (
            <Button look="primary" disabled={goOn.isPending} onClick={() => goOn.mutate()}>
              {cellsDone > 0 ? "Resume" : "Start over"}
            </Button>
          )}
        </div>
        {run.cellsAll > cellsDone && <ProgressBar label="Cells done" done={cellsDone / run.cellsAll} failed={0} />}
        {run.problem !== null && (
          <p role="alert" className={`text-sm [overflow-wrap:anywhere] ${run.state === "failed" ? "text-bad" : "text-warn"}`}>
            {run.problem}
          </p>
        )}
        <ErrorLine error={cancel.error ?? (goOn.error && { message: placedRefusal(goOn.error, run.spec) })} />
        {run.notes.length > 0 && (
          <section aria-label="Limits of these figures" className="text-sm text-ink-2">
            <h3 className="mb-1 text-xs text-ink-3">Limits of these figures</h3>
            <ul className="hatched flex list-none flex-col gap-1 pl-4">
              {run.notes.map((note) => (
                <li key={note} className="max-w-prose [overflow-wrap:anywhere]">
                  {note}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Panel>
  );
}

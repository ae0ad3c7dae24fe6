"use client";

import { useQuery } from "@tanstack/react-query";
import type { Application, ApplicationState, Halt, JournalLine } from "@/server/contracts/studio";
import { useApplicationAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useHindrance } from "../api/useMe";
import { StateWord, type Tone } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatClock, formatDate } from "../ui/format";
import { useFocusHandover } from "../ui/useFocusHandover";
import { useNow } from "../ui/useNow";
import { JournalList } from "./JournalList";
import { isActive } from "./prepareRevisions";
import { notesOf, prepareJournal, progressOf } from "./prepareSteps";
import { StepChecklist } from "./StepChecklist";

const BUSY_MS = 1_000;
const NO_LINES: readonly JournalLine[] = [];

const words: Readonly<Record<ApplicationState, { readonly word: string; readonly tone: Tone }>> = {
  grace: { word: "starts soon", tone: "accent" },
  running: { word: "running", tone: "accent" },
  paused: { word: "paused", tone: "warn" },
  done: { word: "done", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  aborted: { word: "aborted", tone: "neutral" },
  "rolled-back": { word: "rolled back", tone: "warn" },
};

/** State in words: a halt by the studio differs from a pause by an operator, and rolling back differs from continuing. */
function stateOf({ state, undoing, halt }: Application): { readonly word: string; readonly tone: Tone } {
  if (state === "paused" && halt !== null) return { word: "stopped automatically", tone: "bad" };
  if (state === "running" && undoing) return { word: "rolling back", tone: "warn" };
  return words[state];
}

/** The countdown is visual only; screen readers announce it once, because an announcement every second would drown the button. */
function Grace({ application }: { readonly application: Application }) {
  const nowMs = useNow(200);
  if (application.graceEndsAt === null) return null;
  const seconds = nowMs === null ? null : Math.max(0, Math.ceil((Date.parse(application.graceEndsAt) - nowMs) / 1000));
  return (
    <p className="text-sm">
      <span role="status" className="sr-only">
        Starts in a few seconds. Cancelling now changes nothing.
      </span>
      <span aria-hidden="true">Starts in {seconds ?? "…"} s. Cancelling now changes nothing.</span>
    </p>
  );
}

const reasons: Readonly<Record<Halt["because"], string>> = {
  health: "failed health checks",
  objective: "service quality",
  step: "a failed step",
};

function Halted({ application }: { readonly application: Application }) {
  const { halt, state } = application;
  if (halt === null) return null;
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad" data-testid="halt">
      <p>
        Stopped automatically at {formatClock(halt.at)} because of {reasons[halt.because]}: {halt.sentence}
      </p>
      {state === "paused" && (
        <p>
          {halt.because === "step"
            ? "Nothing more changes until you try again, which continues from the current state, or roll back."
            : "Nothing more changes until you resume it or roll it back."}
        </p>
      )}
    </div>
  );
}

/** One application while it runs: its state in words, the actions that are possible, its steps and its journal. */
export function ApplicationPanel({ application }: { readonly application: Application }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const hindrance = useHindrance("operate");
  const active = isActive(application);
  const { target, handOver } = useFocusHandover<HTMLSpanElement>(!active || application.undoing);
  const { data: journal = NO_LINES } = useQuery(
    trpc.applications.journal.queryOptions({ id: application.id }, { staleTime: 0, refetchInterval: active ? BUSY_MS : false }),
  );
  const act = useApplicationAct(
    (what: "pause" | "resume" | "abort") => client.applications[what].mutate({ id: application.id }),
    (_, what) => what === "abort" && handOver(),
  );
  const { state, halt, steps } = application;
  const { word, tone } = stateOf(application);
  const begun = steps.find((step) => step.state === "running");
  return (
    <div className="flex flex-col gap-3">
      <p role="status" className="sr-only">
        {active && state !== "grace" ? `${word}${begun === undefined ? "" : `: ${begun.text}`}` : word}
      </p>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span ref={target} tabIndex={-1} data-testid="application-state">
          <StateWord tone={tone}>{word}</StateWord>
        </span>
        <span className="text-ink-2">
          {application.kind === "rollback" ? "Roll-back" : "Roll-out"} by {application.actor}, {formatDate(application.startedAt)} ·{" "}
          {progressOf(application)}
        </span>
        <span className="ml-auto flex gap-2">
          {/* One button with two labels: it keeps the focus when the label changes. */}
          {active && hindrance !== null && <span className="text-xs text-ink-3">{hindrance}</span>}
          {hindrance === null && (state === "running" || state === "paused") && (
            <Button onClick={() => act.mutate(state === "running" ? "pause" : "resume")}>
              {state === "running" ? "Pause" : halt?.because === "step" ? "Try again" : "Resume"}
            </Button>
          )}
          {hindrance === null && active && !application.undoing && (
            <Button look="danger" onClick={() => act.mutate("abort")}>
              {state === "grace" ? "Cancel" : halt === null ? "Abort" : "Roll back"}
            </Button>
          )}
        </span>
      </div>
      {state === "grace" && <Grace application={application} />}
      {active && application.rollBackOnRegression && !application.undoing && (
        <p className="text-xs text-ink-3">It rolls back automatically if it has to stop or misses its targets.</p>
      )}
      {active && !application.hasWayBack && state !== "grace" && (
        <p className="text-xs text-ink-3">
          The state before was not a plan stored here: an abort leaves everything as it is and undoes nothing.
        </p>
      )}
      <Halted application={application} />
      <ul className="list-none text-xs text-ink-2" aria-label="Notes of the studio">
        {notesOf(journal, application).map((note) => (
          <li key={`${note.at}${note.detail}`}>
            <time dateTime={note.at} className="text-ink-3">
              {formatClock(note.at)}
            </time>{" "}
            {note.detail}
          </li>
        ))}
      </ul>
      {application.error !== null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {application.error}
        </p>
      )}
      <ErrorLine error={act.error} />
      <StepChecklist steps={steps} journal={journal} clusterId={application.clusterId} />
      {journal.length > 0 && (
        <details data-testid="journal">
          <summary className="text-sm font-medium text-ink-2">
            Journal <span className="font-normal text-ink-3">{journal.length === 1 ? "1 line" : `${journal.length} lines`}</span>
          </summary>
          <JournalList lines={prepareJournal(journal, steps)} caption="Journal" />
        </details>
      )}
    </div>
  );
}

"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Application, ApplicationState } from "@/server/contracts/studio";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { StateWord, type Tone } from "../ui/Badge";
import { Button } from "../ui/Button";
import { formatDate } from "../ui/format";
import { useFocusHandover } from "../ui/useFocusHandover";
import { useNow } from "../ui/useNow";
import { isActive } from "./prepareRevisions";
import { StepChecklist } from "./StepChecklist";

const tones: Readonly<Record<ApplicationState, Tone>> = {
  grace: "accent",
  running: "accent",
  paused: "warn",
  done: "good",
  failed: "bad",
  aborted: "neutral",
  "rolled-back": "warn",
};

const words: Readonly<Record<ApplicationState, string>> = {
  grace: "starts soon",
  running: "running",
  paused: "paused",
  done: "done",
  failed: "failed",
  aborted: "aborted",
  "rolled-back": "rolled back",
};

function Grace({ application }: { readonly application: Application }) {
  const nowMs = useNow(200);
  if (application.graceEndsAt === null || nowMs === null) return null;
  const seconds = Math.max(0, Math.ceil((Date.parse(application.graceEndsAt) - nowMs) / 1000));
  return <p className="text-sm">Begins in {seconds} s. Cancelling now leaves nothing changed.</p>;
}

/** One application as it goes: its state in words, what can still be done about it, and its steps. */
export function ApplicationPanel({ application }: { readonly application: Application }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { target, handOver } = useFocusHandover<HTMLSpanElement>(!isActive(application));
  const act = useMutation({
    mutationFn: async (what: "pause" | "resume" | "abort") => takeOutcome(await client.applications[what].mutate({ id: application.id })),
    onSuccess: (_, what) => what === "abort" && handOver(),
    onSettled: () => queries.invalidateQueries(trpc.applications.pathFilter()),
  });
  const { state } = application;
  const done = application.steps.filter((step) => step.state === "done" || step.state === "skipped").length;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <span ref={target} tabIndex={-1} data-testid="application-state">
          <StateWord tone={tones[state]}>{words[state]}</StateWord>
        </span>
        <span className="text-ink-2">
          {application.kind === "rollback" ? "Roll-back" : "Roll-out"} by {application.actor}, {formatDate(application.startedAt)} · {done}{" "}
          of {application.steps.length} steps
        </span>
        <span className="ml-auto flex gap-2">
          {/* One button with two words: it keeps the focus when it changes. */}
          {(state === "running" || state === "paused") && (
            <Button onClick={() => act.mutate(state === "running" ? "pause" : "resume")}>{state === "running" ? "Pause" : "Resume"}</Button>
          )}
          {isActive(application) && (
            <Button look="danger" onClick={() => act.mutate("abort")}>
              {state === "grace" ? "Cancel" : "Abort"}
            </Button>
          )}
        </span>
      </div>
      {state === "grace" && <Grace application={application} />}
      {application.error !== null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {application.error}
        </p>
      )}
      {act.error !== null && (
        <p role="alert" className="text-sm text-bad">
          {act.error.message}
        </p>
      )}
      <StepChecklist steps={application.steps} />
    </div>
  );
}

"use client";

import { useState } from "react";
import type { ApplyStep, JournalLine } from "@/server/contracts/studio";
import { EngineLogText } from "../clusters/EngineLogText";
import { StateWord } from "../ui/Badge";
import { useNow } from "../ui/useNow";
import { JournalList } from "./JournalList";
import { prepareSteps } from "./prepareSteps";

/** What an engine wrote last, under the step that waits for it. */
function EngineLog({ clusterId, engineId }: { readonly clusterId: string; readonly engineId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="min-w-0 open:basis-full" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-xs text-ink-3">
        Log<span className="sr-only"> of {engineId}</span>
      </summary>
      {open && <EngineLogText clusterId={clusterId} engineId={engineId} />}
    </details>
  );
}

/** The steps of a roll-out with their state in words, what they wait for, the time taken, and on demand journal and log. */
export function StepChecklist(props: {
  readonly steps: readonly ApplyStep[];
  readonly journal: readonly JournalLine[];
  readonly clusterId: string;
}) {
  const nowMs = useNow(500);
  return (
    <ol className="flex list-none flex-col" aria-label="Steps" data-testid="apply-steps">
      {prepareSteps(props.steps, props.journal, nowMs).map((step) => (
        <li
          key={step.id}
          aria-current={step.word === "running" ? "step" : undefined}
          className="flex items-baseline gap-3 border-b py-1.5 text-sm last:border-0"
        >
          <span className="w-28 shrink-0">
            <StateWord tone={step.tone}>{step.word}</StateWord>
          </span>
          <span className="min-w-0 flex-1">
            <span className="[overflow-wrap:anywhere]">{step.text}</span>
            {step.detail !== "" && (
              <span className={`block text-xs [overflow-wrap:anywhere] ${step.word === "failed" ? "text-bad" : "text-ink-3"}`}>
                {step.detail}
              </span>
            )}
            <span className="flex flex-wrap gap-x-4">
              {step.journal.length > 0 && (
                <details className="open:basis-full">
                  <summary className="text-xs text-ink-3">Journal of step {step.number}</summary>
                  <JournalList lines={step.journal} caption={`Journal of step ${step.number}`} />
                </details>
              )}
              {step.logOf !== null && <EngineLog clusterId={props.clusterId} engineId={step.logOf} />}
            </span>
          </span>
          <span className="shrink-0 text-xs text-ink-3">{step.took}</span>
        </li>
      ))}
    </ol>
  );
}

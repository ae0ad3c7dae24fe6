"use client";

import type { ApplyStep, StepState } from "@/server/contracts/studio";
import { StateWord, type Tone } from "../ui/Badge";
import { formatAge } from "../ui/format";
import { useNow } from "../ui/useNow";

const tones: Readonly<Record<StepState, Tone>> = { waiting: "neutral", running: "accent", done: "good", failed: "bad", skipped: "neutral" };

function elapsedSeconds(step: ApplyStep, nowMs: number | null): number | null {
  if (step.startedAt === null) return null;
  const end = step.endedAt === null ? nowMs : Date.parse(step.endedAt);
  return end === null ? null : Math.max(0, (end - Date.parse(step.startedAt)) / 1000);
}

/** The steps of a roll-out with their state in words, time taken and last detail. */
export function StepChecklist({ steps }: { readonly steps: readonly ApplyStep[] }) {
  const nowMs = useNow(500);
  return (
    <ol className="flex list-none flex-col" aria-label="Steps" data-testid="apply-steps">
      {steps.map((step) => {
        const seconds = elapsedSeconds(step, nowMs);
        return (
          <li key={step.id} className="flex items-baseline gap-3 border-b py-1.5 text-sm last:border-0">
            <span className="w-20 shrink-0">
              <StateWord tone={tones[step.state]}>{step.state}</StateWord>
            </span>
            <span className="min-w-0 flex-1">
              <span className="break-words">{step.text}</span>
              {step.detail !== "" && (
                <span className={`block text-xs ${step.state === "failed" ? "text-bad" : "text-ink-3"}`}>{step.detail}</span>
              )}
            </span>
            <span className="shrink-0 text-xs text-ink-3">
              {seconds === null ? "" : seconds < 1.5 ? `${seconds.toFixed(1)} s` : formatAge(seconds)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

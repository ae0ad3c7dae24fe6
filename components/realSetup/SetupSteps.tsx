import { ProgressBar } from "../charts/ProgressBar";
import { StateWord } from "../ui/Badge";
import type { PreparedStep } from "./prepareSetup";

/** The steps of a set-up, each with its state, its time and what it says. */
export function SetupSteps({ steps }: { readonly steps: readonly PreparedStep[] }) {
  return (
    <ol aria-label="Steps" className="flex list-none flex-col">
      {steps.map(({ name, title, word, tone, says, seconds, progress }) => (
        <li key={name} data-testid={`setup-${name}`} className="flex flex-col gap-1 border-b py-2 last:border-0">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
            <span className="w-56 min-w-0">{title}</span>
            <StateWord tone={tone}>{word}</StateWord>
            <span className="ml-auto text-xs text-ink-3 tabular-nums">{seconds}</span>
          </div>
          {says !== "" && <p className={`text-xs [overflow-wrap:anywhere] ${word === "failed" ? "text-bad" : "text-ink-3"}`}>{says}</p>}
          {progress !== null && <ProgressBar label={title} done={progress} failed={0} />}
        </li>
      ))}
    </ol>
  );
}

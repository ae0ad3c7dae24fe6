"use client";

import type { DiffLine } from "@/server/contracts/studio";
import { Check } from "../ui/Check";
import { NoteList } from "../ui/Notes";
import { useUrlView } from "../url/useUrlView";
import { applyCodec } from "./applyCodec";
import { prepareDiff } from "./prepareDiff";
import { signs } from "./signs";

function Lines({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <ul className="flex list-none flex-col">
      {lines.map((line) => {
        const sign = signs[line.sign];
        return (
          <li
            key={`${line.sign}${line.subject}${line.text}`}
            className="flex flex-wrap gap-x-3 border-b py-1.5 text-sm last:border-0 sm:flex-nowrap"
          >
            <span className={`w-24 shrink-0 whitespace-nowrap ${sign.tone}`}>
              <span aria-hidden="true" className="mr-1.5 inline-block w-2 font-mono">
                {sign.mark}
              </span>
              {sign.word}
            </span>
            <span className="w-44 shrink-0 font-medium [overflow-wrap:anywhere] sm:w-56">{line.subject}</span>
            <span className="min-w-0 basis-full text-ink-2 [overflow-wrap:anywhere] sm:basis-auto">{line.text}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** A difference in words: the sign, the subject and its change; and what stays unchanged. */
export function DiffList({ lines, notes }: { readonly lines: readonly DiffLine[]; readonly notes: readonly string[] }) {
  const [{ hideUnchanged }, setView] = useUrlView(applyCodec);
  const { changed, unchanged, engines, enginesText } = prepareDiff(lines);
  const shownEngines = hideUnchanged ? engines.filter(({ sign }) => sign !== "=") : engines;
  return (
    <div className="flex flex-col gap-2" data-testid="plan-diff">
      {lines.some(({ sign }) => sign === "=") && (
        <Check checked={hideUnchanged} onChange={(checked) => setView({ hideUnchanged: checked }, "push")}>
          Hide unchanged
        </Check>
      )}
      {lines.every(({ sign }) => sign === "=") && <p className="text-sm text-ink-3">Nothing changes: this plan is already running.</p>}
      <Lines lines={hideUnchanged ? changed : [...changed, ...unchanged]} />
      {hideUnchanged && unchanged.length > 0 && <p className="text-xs text-ink-3">{unchanged.length} unchanged, hidden</p>}
      {engines.length > 0 && (
        <details>
          <summary className="text-sm font-medium text-ink-2">
            Engines <span className="font-normal text-ink-3">{enginesText}</span>
          </summary>
          {shownEngines.length === 0 ? (
            <p className="py-1.5 text-sm text-ink-3">Every engine stays as it is.</p>
          ) : (
            <Lines lines={shownEngines} />
          )}
        </details>
      )}
      {notes.length > 0 && (
        <section aria-label="Stays as it is" className="rounded-md bg-sunken px-3 py-2 text-sm">
          <h3 className="text-xs text-ink-3">Not managed by this studio, stays as it is</h3>
          <NoteList items={notes} className="list-none" />
        </section>
      )}
    </div>
  );
}

"use client";

import { useState } from "react";
import type { DiffLine } from "@/server/contracts/studio";
import { prepareDiff } from "./prepareDiff";

const signs = {
  "+": { word: "added", tone: "text-good", mark: "+" },
  "-": { word: "removed", tone: "text-bad", mark: "−" },
  "~": { word: "changed", tone: "text-warn", mark: "~" },
  "=": { word: "unchanged", tone: "text-ink-3", mark: "=" },
} as const;

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
            <span className={`w-20 shrink-0 ${sign.tone}`}>
              <span aria-hidden="true" className="mr-1.5 inline-block w-2 font-mono">
                {sign.mark}
              </span>
              {sign.word}
            </span>
            <span className="w-44 shrink-0 font-medium sm:w-56 break-words">{line.subject}</span>
            <span className="min-w-0 basis-full text-ink-2 sm:basis-auto">{line.text}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** A difference in words: the sign, the subject and what becomes of it. Unchanged lines and single engines hide until asked for. */
export function DiffList({ lines }: { readonly lines: readonly DiffLine[] }) {
  const [all, setAll] = useState(false);
  const { changed, unchanged, engines, enginesText } = prepareDiff(lines);
  return (
    <div className="flex flex-col gap-2" data-testid="plan-diff">
      {changed.length === 0 && engines.every((line) => line.sign === "=") && (
        <p className="text-sm text-ink-3">Nothing changes: this plan is what runs.</p>
      )}
      <Lines lines={all ? [...changed, ...unchanged] : changed} />
      {unchanged.length > 0 && (
        <button type="button" className="self-start text-xs text-accent underline underline-offset-2" onClick={() => setAll(!all)}>
          {all ? "Hide unchanged" : `Show ${unchanged.length} unchanged`}
        </button>
      )}
      {engines.length > 0 && (
        <details>
          <summary className="text-sm font-medium text-ink-2">
            Engines <span className="font-normal text-ink-3">{enginesText}</span>
          </summary>
          <Lines lines={engines} />
        </details>
      )}
    </div>
  );
}

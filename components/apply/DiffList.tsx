"use client";

import { useState } from "react";
import type { DiffLine } from "@/server/contracts/studio";

const signs = {
  "+": { word: "added", tone: "text-good", mark: "+" },
  "-": { word: "removed", tone: "text-bad", mark: "−" },
  "~": { word: "changed", tone: "text-warn", mark: "~" },
  "=": { word: "unchanged", tone: "text-ink-3", mark: "=" },
} as const;

/** A difference in words: the sign, the subject and what becomes of it. Unchanged lines hide until asked for. */
export function DiffList({ lines }: { readonly lines: readonly DiffLine[] }) {
  const [all, setAll] = useState(false);
  const unchanged = lines.filter((line) => line.sign === "=").length;
  const shown = all ? lines : lines.filter((line) => line.sign !== "=");
  return (
    <div className="flex flex-col gap-2">
      {shown.length === 0 && <p className="text-sm text-ink-3">Nothing changes: this plan is what runs.</p>}
      <ul className="flex list-none flex-col" data-testid="plan-diff">
        {shown.map((line) => {
          const sign = signs[line.sign];
          return (
            <li key={`${line.sign}${line.subject}${line.text}`} className="flex gap-3 border-b py-1.5 text-sm last:border-0">
              <span className={`w-20 shrink-0 ${sign.tone}`}>
                <span aria-hidden="true" className="mr-1.5 inline-block w-2 font-mono">
                  {sign.mark}
                </span>
                {sign.word}
              </span>
              <span className="w-56 shrink-0 font-medium break-words">{line.subject}</span>
              <span className="min-w-0 text-ink-2">{line.text}</span>
            </li>
          );
        })}
      </ul>
      {unchanged > 0 && (
        <button type="button" className="self-start text-xs text-accent underline underline-offset-2" onClick={() => setAll(!all)}>
          {all ? "Hide unchanged" : `Show ${unchanged} unchanged`}
        </button>
      )}
    </div>
  );
}

"use client";

import { useId, useMemo, useState } from "react";
import type { Extraction } from "@/solver/ensemble/gate/ensembleDocument";
import { voteReader } from "@/solver/ensemble/gate/voteReader";

/** An answer to paste, and the vote that would be read off it. */
export function TryExtraction({ extraction }: { readonly extraction: Extraction }) {
  const id = useId();
  const [answer, setAnswer] = useState("");
  const vote = useMemo(() => voteReader(extraction)(answer), [extraction, answer]);
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs text-ink-3">
        Try it: paste an answer
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={20_000}
        className="min-w-0 rounded-md border border-line-strong bg-raised px-2 py-1 text-sm"
        value={answer}
        onChange={(event) => setAnswer(event.target.value)}
      />
      <p role="status" className="text-sm text-ink-2 [overflow-wrap:anywhere]" data-testid="tried-vote">
        {answer === "" ? (
          <span className="text-ink-3">The vote is shown here.</span>
        ) : vote === null ? (
          "No vote can be read from it."
        ) : (
          <>
            Vote: <strong className="font-semibold">{vote}</strong>
          </>
        )}
      </p>
    </div>
  );
}

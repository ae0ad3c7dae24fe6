"use client";

import { useMemo, useState } from "react";
import { AreaField } from "@/components/ui/Field";
import type { Extraction } from "@/solver/ensemble/gate/ensembleDocument";
import { voteReader } from "@/solver/ensemble/gate/voteReader";

/** Shows the vote that is read from a pasted answer. */
export function TryExtraction({ extraction }: { readonly extraction: Extraction }) {
  const [answer, setAnswer] = useState("");
  const vote = useMemo(() => voteReader(extraction)(answer), [extraction, answer]);
  return (
    <div className="flex flex-col gap-1">
      <AreaField label="Try it: paste an answer" rows={2} maxLength={20_000} value={answer} onChange={setAnswer} />
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

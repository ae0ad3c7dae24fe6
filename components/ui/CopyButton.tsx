"use client";

import { useState } from "react";
import { Button } from "./Button";

/** Copies a text. Where the browser offers no clipboard (a page that is not served securely) the text is shown to be copied by hand. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<{ readonly of: string; readonly copied: boolean } | null>(null);
  const outcome = state?.of === text ? state : null;
  return (
    <>
      <Button
        onClick={() => {
          // Undefined, despite its type, on pages not served securely.
          const clipboard = navigator.clipboard as Clipboard | undefined;
          const copying = clipboard?.writeText(text) ?? Promise.reject();
          copying.then(
            () => setState({ of: text, copied: true }),
            () => setState({ of: text, copied: false }),
          );
        }}
      >
        {label}
      </Button>
      <span role="status">{outcome?.copied && "Copied"}</span>
      {outcome?.copied === false && (
        <label className="flex basis-full flex-col gap-1">
          This browser blocks copying. Copy the text here:
          <textarea
            readOnly
            rows={4}
            className="w-full rounded-md border border-line-strong bg-raised p-2 font-mono text-ink"
            value={text}
          />
        </label>
      )}
    </>
  );
}
